//! Words and terms of all kinds of text.

use proptest::prelude::*;

use super::{Terms, WORD_MAX, Word, words};

fn split(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    words(text, |word| {
        found.push(match word {
            Word::Part(word) => word.to_owned(),
            Word::Compound(word) => format!("={word}"),
        });
    });
    found
}

#[test]
fn plain_words() {
    assert_eq!(split("The Quick, brown-ish (FOX)!"), ["the", "quick", "brown", "ish", "=brownish", "fox"]);
    assert_eq!(
        split("Caroline's dog doesn’t bark. 'quoted' rock'n'roll"),
        ["caroline's", "dog", "doesn't", "bark", "quoted", "rock'n'roll"]
    );
    assert_eq!(split(""), [""; 0]);
    assert_eq!(split(" \t\n--- ... '' :: !?"), [""; 0]);
    assert_eq!(split("wait...what end. Next a--b"), ["wait", "what", "end", "next", "a", "b"]);
}

#[test]
fn identifiers() {
    let cases: [(&str, &[&str]); 17] = [
        ("snake_case", &["snake", "case", "=snakecase"]),
        ("kebab-case", &["kebab", "case", "=kebabcase"]),
        ("camelCase", &["camel", "case", "=camelcase"]),
        ("PascalCase", &["pascal", "case", "=pascalcase"]),
        ("HTTPServer", &["http", "server", "=httpserver"]),
        ("parseHTTP2Frame", &["parse", "http2frame", "=parsehttp2frame"]),
        ("URLs GPUs iOS", &["urls", "gpus", "i", "os", "=ios"]),
        ("McDonald O'Brien", &["mc", "donald", "=mcdonald", "o'brien"]),
        ("src/index/kernel.rs", &["src", "index", "kernel", "rs", "=src/index/kernel.rs"]),
        (r"C:\tmp", &["c", "tmp"]),
        ("std::io::Read", &["std", "io", "read", "=std::io::read"]),
        ("1.2.3 v0.4.1-beta", &["1", "2", "3", "=1.2.3", "v0", "4", "1", "beta", "=v0.4.1beta"]),
        ("sha256 x86_64 utf8", &["sha256", "x86", "64", "=x8664", "utf8"]),
        ("__init__ --no-cache", &["init", "no", "cache", "=nocache"]),
        ("a.b@example.com", &["a", "b", "example", "com", "=a.b@example.com"]),
        ("https://x.org/y", &["https", "x", "org", "y", "=x.org/y"]),
        ("SCREAMING_CASE", &["screaming", "case", "=screamingcase"]),
    ];
    for (text, expected) in cases {
        assert_eq!(split(text), expected, "{text}");
    }
}

#[test]
fn accents_and_other_scripts() {
    assert_eq!(
        split("Café cafe\u{301} ÉCOLE Straße Łódź smørrebrød"),
        ["cafe", "cafe", "ecole", "strasse", "lodz", "smorrebrod"]
    );
    assert_eq!(split("Ｆｕｌｌ ﬁn İstanbul"), ["full", "fin", "istanbul"]);
    assert_eq!(split("Привет, йод"), ["привет", "йод"]);
    assert_eq!(split("ΟΔΟΣ οδός"), ["οδοσ", "οδόσ"]);
    assert_eq!(split("हिन्दी"), ["हिन्दी"]);
    assert_eq!(split("e\u{301}te\u{301}-x"), ["ete", "x", "=etex"]);
}

#[test]
fn scripts_without_spaces() {
    assert_eq!(split("東京都"), ["東京", "京都"]);
    assert_eq!(split("犬。猫"), ["犬", "猫"]);
    assert_eq!(split("使用memory_store函数"), ["使用", "memory", "store", "=memorystore", "函数"]);
    assert_eq!(split("한국어 키"), ["한국", "국어", "키"]);
    assert_eq!(split("カメラ・ab"), ["カメ", "メラ", "ab"]);
}

#[test]
fn emoji_are_no_words() {
    assert_eq!(split("🎉👩‍👩‍👧 done ✅ ok👍yes"), ["done", "ok", "yes"]);
}

#[test]
fn huge_words_are_cut() {
    assert_eq!(split(&"x".repeat(100_000)), ["x".repeat(WORD_MAX)]);
    assert_eq!(split(&"é".repeat(1000)), ["e".repeat(WORD_MAX)]);
    assert_eq!(split(&"ж".repeat(1000)), ["ж".repeat(WORD_MAX / 2)]);
    assert!(split(&"ab/".repeat(1000)).iter().all(|word| word == "ab"));
}

#[test]
fn stems_and_stop_words() {
    let terms = Terms::new();
    assert_eq!(terms.term("the"), None);
    assert_eq!(terms.term("don't"), None);
    assert_eq!(terms.term("running").as_deref(), Some("run"));
    assert_eq!(terms.term("caroline's").as_deref(), terms.term("caroline").as_deref());
    assert_eq!(terms.term("1.2.3s").as_deref(), Some("1.2.3s"));
    assert_eq!(terms.term("привет").as_deref(), Some("привет"));
}

#[test]
fn shared_words_are_those_of_the_query_in_any_form() {
    let shared = super::shared(
        "Why do the Uploads of retry_count stall?",
        "An upload stalls; retryCount is set too low",
    );
    assert_eq!(shared, ["uploads", "retry", "count", "retrycount", "stall"]);
    assert_eq!(super::shared("naïve café", "a Naive CAFE"), ["naive", "cafe"]);
}

proptest! {
    #[test]
    fn any_text_gives_short_folded_words(text in any::<String>()) {
        let terms = Terms::new();
        for word in split(&text) {
            let word = word.trim_start_matches('=');
            prop_assert!(!word.is_empty() && word.len() <= WORD_MAX);
            prop_assert!(!word.bytes().any(|byte| byte.is_ascii_uppercase()));
            prop_assert!(terms.term(word).is_none_or(|term| !term.is_empty()));
        }
    }

    #[test]
    fn composed_and_decomposed_text_agree(text in "[a-zé-ü ėőｱが각_.']{0,20}") {
        use unicode_normalization::UnicodeNormalization;
        let decomposed: String = text.nfd().collect();
        prop_assert_eq!(split(&text.nfc().collect::<String>()), split(&decomposed));
    }
}
