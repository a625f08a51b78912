//! `memoryctl share`

use clap::{Args, Subcommand};
use memoryd_client::proto::{ConsumeNote, PromoteNote, Service, ShareNote, SharedNotes};

use crate::exit::Outcome;
use crate::input;
use crate::output::Output;
use crate::verbs::{log, notes};

#[derive(Subcommand, Debug)]
pub enum Verb {
    /// Write an insight for other sessions
    Write(WriteArguments),
    /// List recent insights, newest first
    List(ListArguments),
    /// Archive an insight that you applied
    Consume(OneArguments),
    /// Make an insight a rule that stays
    Promote(PromoteArguments),
}

#[derive(Args, Debug)]
pub struct WriteArguments {
    /// What it is about; the file is named after it
    title: String,
    /// The project or task that it comes from
    #[arg(long, value_name = "TEXT")]
    from: String,
    /// Whom it is for: writing, code, general or a project's name
    #[arg(long, value_name = "TEXT", default_value = "general")]
    relevance: String,
    /// What was learned or discovered; - reads it from standard input
    #[arg(long, value_name = "TEXT")]
    insight: String,
    /// A sentence that another session can apply
    #[arg(long, value_name = "TEXT")]
    rule: String,
}

#[derive(Args, Debug)]
pub struct ListArguments {
    /// How many days back
    #[arg(long, value_name = "COUNT", default_value_t = 3)]
    days: u32,
}

#[derive(Args, Debug)]
pub struct OneArguments {
    /// The name of its file
    name: String,
}

#[derive(Args, Debug)]
pub struct PromoteArguments {
    /// The name of its file
    name: String,
    /// Promote it to domains/NAME.md instead of memory.md
    #[arg(long, value_name = "NAME")]
    domain: Option<String>,
}

pub fn run(verb: Verb, service: &impl Service, out: &mut Output) -> Outcome {
    match verb {
        Verb::Write(WriteArguments { title, from, relevance, insight, rule }) => {
            let insight = input::argument(&insight)?;
            out.reply(&service.serve(ShareNote { title, from, relevance, insight, rule })?, log::render)
        }
        Verb::List(ListArguments { days }) => out.reply(&service.serve(SharedNotes { days })?, notes::found),
        Verb::Consume(OneArguments { name }) => out.reply(&service.serve(ConsumeNote { name })?, log::render),
        Verb::Promote(PromoteArguments { name, domain }) => {
            out.reply(&service.serve(PromoteNote { name, domain })?, log::render)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::testing::{Fake, written};
    use memoryd_client::proto::{Place, Request, Written};

    #[test]
    fn a_promotion_names_the_domain() {
        let places = vec![Place { file: "/tree/domains/code.md".to_owned(), line: Some(3) }];
        let fake = Fake::default().reply::<PromoteNote>(Written { places, ..Written::default() });
        let arguments = PromoteArguments { name: "x".to_owned(), domain: Some("code".to_owned()) };
        let (text, outcome) = written(false, |out| run(Verb::Promote(arguments), &fake, out));
        assert!(outcome.is_ok());
        assert_eq!(text, "there already, in /tree/domains/code.md:3\n");
        assert!(
            matches!(&fake.asked()[..], [Request::PromoteNote(call)] if call.domain.as_deref() == Some("code"))
        );
    }
}
