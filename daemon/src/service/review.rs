//! How weeks went (spec P3).

use memoryd_proto::{Fault, Review, ReviewList, ReviewOf, Reviews, Serve, Week};

use super::App;
use crate::error::Error;
use crate::jobs::review;
use crate::store::reviews;

impl Serve<ReviewOf> for App {
    fn serve(&self, call: ReviewOf) -> Result<Review, Fault> {
        Ok(self.review(call.week)?)
    }
}

impl Serve<Reviews> for App {
    fn serve(&self, _: Reviews) -> Result<ReviewList, Fault> {
        let kept = self.view().read(reviews::all)?;
        Ok(ReviewList { reviews: kept.iter().map(Review::summary).collect() })
    }
}

impl App {
    fn review(&self, week: Option<Week>) -> Result<Review, Error> {
        let (now, zone) = (self.now(), self.tender.zone);
        let running = Week::of(zone.day(now));
        let week = week.unwrap_or(running);
        if week > running {
            return Err(Fault::not_found(
                format!("{week} has not begun"),
                format!("The week that runs is {running}; `memoryctl review --list` shows what is kept."),
            )
            .into());
        }
        if let Some(kept) = self.view().read(|connection| reviews::find(connection, week))? {
            return Ok(kept);
        }
        review::of(self.view(), &self.config, &self.redactor, zone, week, now)
    }
}
