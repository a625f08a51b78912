use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

static REDACTOR: LazyLock<Redactor> = LazyLock::new(|| Redactor::new(&[]).expect("valid rules"));

const HEX: &str = "0123456789abcdef";
const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// Made-up key material, generated so that the source itself holds nothing that looks like a secret.
fn noise(alphabet: &str, len: usize) -> String {
    let alphabet = alphabet.as_bytes();
    let mut state = 0x2545_F491_u32;
    (0..len)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(alphabet[(state >> 16) as usize % alphabet.len()])
        })
        .collect()
}

fn hex(len: usize) -> String {
    noise(HEX, len)
}

fn alnum(len: usize) -> String {
    noise(ALNUM, len)
}

fn pem(label: &str) -> String {
    let lines = [alnum(64), alnum(64), alnum(32)].join("\n");
    format!("-----BEGIN {label}-----\n{lines}\n-----END {label}-----")
}

/// A kind, and a text whose middle is such a secret.
struct Example {
    kind: &'static str,
    before: &'static str,
    secret: String,
    after: &'static str,
}

fn example(
    kind: &'static str,
    before: &'static str,
    secret: impl Into<String>,
    after: &'static str,
) -> Example {
    Example { kind, before, secret: secret.into(), after }
}

fn bare(kind: &'static str, secret: impl Into<String>) -> Example {
    example(kind, "Deployed with ", secret, ", it works.")
}

fn blocks() -> Vec<Example> {
    let open_ssh = concat!("OPENSSH PRIVATE", " KEY");
    vec![
        bare("ssh private key", pem(open_ssh)),
        example("ssh private key", r#"{"key": ""#, pem(open_ssh).replace('\n', "\\n"), r#""}"#),
        bare("pgp private key", pem(concat!("PGP PRIVATE", " KEY BLOCK"))),
        bare("private key", pem(concat!("RSA PRIVATE", " KEY"))),
        bare("private key", pem(concat!("PRIVATE", " KEY"))),
        bare("private key", pem(concat!("ENCRYPTED PRIVATE", " KEY"))),
        example(
            "private key",
            "cut off: ",
            format!("-----BEGIN EC {} KEY-----\n{}\n{}", "PRIVATE", alnum(64), alnum(40)),
            "\nand so on",
        ),
        bare("age key", format!("AGE-SECRET-KEY-1{}", noise(UPPER, 58))),
    ]
}

fn vendor_tokens() -> Vec<Example> {
    vec![
        bare("aws access key id", format!("AKIA{}", noise(UPPER, 16))),
        bare("aws access key id", format!("ASIA{}", noise(UPPER, 16))),
        example("aws secret key", "aws_secret_access_key = ", alnum(40), "\nregion = eu-west-1"),
        example("aws secret key", "AWS_SECRET_ACCESS_KEY=", noise("aZ3/+bY9XcQ7kLm0", 40), ""),
        bare("github token", format!("ghp_{}", alnum(36))),
        bare("github token", format!("gho_{}", alnum(36))),
        bare("github token", format!("ghs_{}", alnum(36))),
        bare("github token", format!("github_pat_{}_{}", alnum(22), alnum(59))),
        example("github token", "git clone https://", format!("ghp_{}", alnum(36)), "@github.com/a/b.git"),
        example("github token", "GITHUB_TOKEN=", format!("ghp_{}", alnum(36)), " make"),
        bare("gitlab token", format!("glpat-{}", alnum(20))),
        bare("slack token", format!("xoxb-{}-{}-{}", "123456789012", "1234567890123", alnum(24))),
        bare("slack token", format!("xoxp-{}-{}", "123456789012", hex(32))),
        bare("slack token", format!("xapp-1-A0{}-{}-{}", noise(UPPER, 9), "1234567890123", hex(64))),
        example(
            "slack webhook",
            "https://hooks.slack.com/services/",
            format!("T00000000/B00000000/{}", alnum(24)),
            "",
        ),
        bare("stripe key", format!("sk_live_{}", alnum(24))),
        bare("stripe key", format!("rk_test_{}", alnum(24))),
        bare("stripe key", format!("whsec_{}", alnum(32))),
        bare("google api key", format!("AIza{}", alnum(35))),
        bare("google oauth secret", format!("GOCSPX-{}", alnum(28))),
        bare("google oauth secret", format!("ya29.a0{}", alnum(80))),
        bare("anthropic api key", format!("sk-ant-api03-{}-{}AA", alnum(80), alnum(10))),
        bare("openrouter api key", format!("sk-or-v1-{}", hex(64))),
        bare("openai api key", format!("sk-proj-{}", alnum(60))),
        bare("openai api key", format!("sk-{}T3BlbkFJ{}", alnum(20), alnum(20))),
        bare("hugging face token", format!("hf_{}", alnum(34))),
        bare("npm token", format!("npm_{}", alnum(36))),
        example("npm token", "//registry.npmjs.org/:_authToken=", format!("npm_{}", alnum(36)), ""),
        bare("pypi token", format!("pypi-AgEIcHlwaS5vcmc{}", alnum(60))),
        bare("crates-io token", format!("cio{}", alnum(32))),
        bare("rubygems key", format!("rubygems_{}", hex(48))),
        bare("twilio key", format!("SK{}", hex(32))),
        example("twilio key", "TWILIO_AUTH_TOKEN=", hex(32), ""),
        bare("sendgrid key", format!("SG.{}.{}", alnum(22), alnum(43))),
        bare("mailgun key", format!("key-{}", hex(32))),
        example("mailgun key", "MAILGUN_API_KEY: ", format!("{}-{}-{}", hex(32), hex(8), hex(8)), ""),
        bare("brevo key", format!("xkeysib-{}-{}", hex(64), alnum(16))),
        bare("mailchimp key", format!("{}-us12", hex(32))),
        bare("discord bot token", format!("MTIz{}.{}.{}", alnum(20), alnum(6), alnum(38))),
        example("discord webhook", "https://discord.com/api/webhooks/123456789012345678/", alnum(68), ""),
    ]
}

fn more_vendor_tokens() -> Vec<Example> {
    vec![
        bare("telegram bot token", format!("123456789:AA{}", alnum(33))),
        example(
            "azure storage key",
            "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=",
            format!("{}==", alnum(86)),
            ";EndpointSuffix=core.windows.net",
        ),
        example(
            "azure access signature",
            "https://x.blob.core.windows.net/c?sv=2022-11-02&sig=",
            alnum(44),
            "&se=2025",
        ),
        bare("azure client secret", format!("abc8Q~{}", alnum(34))),
        bare("digitalocean token", format!("dop_v1_{}", hex(64))),
        bare("heroku key", format!("HRKU-{}", alnum(36))),
        example(
            "heroku key",
            "HEROKU_API_KEY=",
            format!("{}-{}-{}-{}-{}", hex(8), hex(4), hex(4), hex(4), hex(12)),
            "",
        ),
        example("cloudflare token", "CLOUDFLARE_API_TOKEN=", alnum(40), ""),
        example("datadog key", "DD_API_KEY=", hex(32), ""),
        bare("new relic key", format!("NRAK-{}", noise(UPPER, 27))),
        bare("shopify token", format!("shpat_{}", hex(32))),
        bare("square token", format!("sq0atp-{}", alnum(22))),
        bare("square token", format!("EAAA{}", alnum(60))),
        bare("paypal token", format!("access_token$production${}${}", noise(HEX, 16), hex(32))),
        bare("vault token", format!("hvs.{}", alnum(90))),
        bare("databricks token", format!("dapi{}-2", hex(32))),
        bare("linear key", format!("lin_api_{}", alnum(40))),
        bare("notion token", format!("secret_{}", alnum(43))),
        bare("notion token", format!("ntn_{}", alnum(46))),
        bare("atlassian token", format!("ATATT3xFfGF0{}={}", alnum(170), hex(8))),
        bare("docker token", format!("dckr_pat_{}", alnum(27))),
        bare("grafana token", format!("glsa_{}_{}", alnum(32), hex(8))),
        bare("sentry token", format!("sntryu_{}", hex(64))),
        bare("doppler token", format!("dp.pt.{}", alnum(43))),
        bare("postman key", format!("PMAK-{}-{}", hex(24), hex(34))),
        bare("supabase key", format!("sbp_{}", hex(40))),
        bare("terraform token", format!("{}.atlasv1.{}", alnum(14), alnum(67))),
        bare("pulumi token", format!("pul-{}", hex(40))),
        bare("fly token", format!("fo1_{}", alnum(43))),
        bare("airtable token", format!("pat{}.{}", alnum(14), hex(64))),
        bare("figma token", format!("figd_{}", alnum(40))),
        bare("tailscale key", format!("tskey-auth-{}-{}", alnum(12), alnum(32))),
        bare("dropbox token", format!("sl.{}", alnum(130))),
        bare("planetscale token", format!("pscale_tkn_{}", alnum(43))),
        bare("netlify token", format!("nfp_{}", alnum(36))),
        bare("groq key", format!("gsk_{}", alnum(52))),
        bare("xai key", format!("xai-{}", alnum(80))),
        bare("replicate token", format!("r8_{}", alnum(37))),
        bare("perplexity key", format!("pplx-{}", alnum(48))),
        bare("mapbox token", format!("sk.eyJ{}.{}", alnum(60), alnum(22))),
        bare("onepassword token", format!("ops_eyJ{}", alnum(200))),
        bare("jwt", format!("eyJ{}.eyJ{}.{}", alnum(33), alnum(60), alnum(43))),
    ]
}

fn credentials_in_context() -> Vec<Example> {
    vec![
        example(
            "authorization header",
            "curl -H 'Authorization: Bearer ",
            alnum(40),
            "' https://api.acme.dev",
        ),
        example("authorization header", "Authorization: Basic ", format!("{}==", alnum(22)), "\nAccept: */*"),
        example("authorization header", r#"{"Authorization": "token "#, alnum(30), r#""}"#),
        example("bearer token", "send it as Bearer ", alnum(32), " please"),
        example("cookie", "Cookie: ", format!("sid={}; theme=dark", alnum(26)), "\nHost: acme.dev"),
        example("cookie", "Set-Cookie: ", format!("auth={}; Path=/; HttpOnly", alnum(26)), ""),
        example("session id", "PHPSESSID=", noise("abcdefgh0123456789", 26), ""),
        example("password in url", "postgres://app:", "s3cr3t!", "@db.internal:5432/app"),
        example("password in url", "redis://:", "hunter2", "@cache:6379"),
        example("password", "password = ", "hunter2", ""),
        example("password", "password: \"", "correct horse battery staple", "\""),
        example("password", r#"{"user": "bob", "password": ""#, "letmein", r#""}"#),
        example("password", r#"{\"password\":\""#, "Tr0ub4dor&3", r#"\"}"#),
        example("password", "DB_PASSWORD=", "supersecret", "\nDB_HOST=db"),
        example("password", "export PGPASSWORD='", "pa$$word", "'; psql"),
        example("password", "Server=db;Uid=sa;Pwd=", "Sup3rSecret!", ";Encrypt=true"),
        example("password", "spring:\n  datasource:\n    password: ", "S3cure-Pa55", "\n    url: x"),
        example("password", "mysql root passwd: ", "P@ss(w0rd", ""),
        example("password", "The password for the staging box is ", "Winter2024!", ""),
        example("password", "My wifi password is \"", "swordfish", "\"."),
        example("password", "Password is: ", "Tr0ub4dor&3", ""),
        example("password", "I changed my password to ", "blue42horse", "."),
        example("api key", "api_key = \"", alnum(20), "\""),
        example("api key", "X-API-Key: ", hex(32), ""),
        example("api key", "{\"apiKey\": \"", alnum(24), "\"}"),
        example("api key", "SECRET_KEY_BASE=", hex(64), ""),
        example("api key", "my api key is ", "a8f5f167f44f", ", keep it"),
        example("secret", "token: ", alnum(30), ""),
        example("secret", "client_secret=", alnum(30), "&grant_type=code"),
        example("secret", "auth_token => '", hex(40), "'"),
        example("secret", "https://acme.dev/hook?token=", hex(24), "&page=2"),
        example("password option", "mysqldump --password ", "letmein", " db"),
        example("api key", "deploy --api-key=", hex(20), " --dry-run"),
        example("password option", "[\"--token\", \"", "abcd1234", "\"]"),
        example("password option", "curl -u bob:", "s3cr3tpass", " https://acme.dev"),
        example("password option", "sshpass -p '", "hunter2", "' ssh host"),
        example("password option", "mysql -u root -p", "Pa55word", " shop"),
        example("password option", "acme --secret-key '", "abcd efgh", "'"),
        example("password", "password: ", "qwerty", ""),
        example("pin", "My card pin is ", "4821", "."),
        example("high-entropy secret", "the signing key we use: ", format!("{}+/9aB", alnum(43)), ""),
    ]
}

fn personal_data() -> Vec<Example> {
    vec![
        example("card number", "pay with ", "4111 1111 1111 1111", ", exp 12/27"),
        example("card number", "\"card\":\"", "5555555555554444", "\""),
        example("card number", "amex ", "3782-822463-10005", ""),
        example("iban", "transfer to ", "DE89 3704 0044 0532 0130 00", " today"),
        example("iban", "IBAN: ", "GB82WEST12345698765432", ""),
        example("iban", "IBAN ", "ES91 2100 0418 4502 0005 1332", " THIS one"),
        example("social security number", "her SSN is ", "078-05-1120", ""),
        example("passport number", "My passport number is ", "C01X00T47", ""),
        example("postal address", "She lives at ", "12 Main Street", " with two cats"),
        example("postal address", "My home address is ", "350 Fifth Avenue, Apt 4B, New York, NY 10118", "."),
        example("postal address", "User lives at ", "221b Baker Street, London, NW1 6XE", ""),
        example("postal address", "Er wohnt in der ", "Bahnhofstraße 12", "."),
        example("health data", "Alice was diagnosed with ", "lupus", "."),
        example("health data", "The user has been diagnosed with ", "type 2 diabetes", ", so no sugar"),
        example("health data", "My doctor prescribed me ", "20 mg of fluoxetine", "."),
        example("health data", "He was prescribed ", "antidepressants", "."),
        example("health data", "I suffer from severe ", "depression", "."),
        example("health data", "She is taking ", "20mg of Lexapro", " daily"),
        example("health data", "The user's wife has breast ", "cancer", "."),
    ]
}

fn examples() -> Vec<Example> {
    [blocks(), vendor_tokens(), more_vendor_tokens(), credentials_in_context(), personal_data()]
        .into_iter()
        .flatten()
        .collect()
}

/// Texts that only resemble secrets.
fn look_alikes() -> Vec<String> {
    let mut texts: Vec<String> = include_str!("look_alikes.txt").lines().map(str::to_owned).collect();
    texts.extend([
        format!("commit {}", hex(40)),
        format!("image digest sha256:{}", hex(64)),
        format!("\"integrity\": \"sha512-{}==\",", alnum(86)),
        format!("resolved key foo@1.2.3 integrity sha512-{}==", alnum(86)),
        format!("![logo](data:image/png;base64,iVBORw0KGgo{})", alnum(200)),
        format!("the key image is data:image/png;base64,iVBORw0KGgo{}", alnum(200)),
        format!("ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ{} me@laptop", alnum(300)),
        format!("deploy key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{} ci", alnum(43)),
        format!("checksum = \"{}\"", hex(64)),
        format!("cache key {} missed", hex(32)),
        format!("etag W/\"{}\"", hex(32)),
        pem("CERTIFICATE"),
        pem("PUBLIC KEY"),
        format!("publishable pk_live_{}", alnum(24)),
    ]);
    texts
}

#[test]
fn every_secret_goes_and_only_the_secret() {
    let mut failures = Vec::new();
    for Example { kind, before, secret, after } in examples() {
        let text = format!("{before}{secret}{after}");
        let redacted = REDACTOR.redact(&text);
        if redacted.text != format!("{before}[redacted: {kind}]{after}") || redacted.found != [kind] {
            failures.push(format!("{text} -> {}", redacted.text));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn look_alikes_stay() {
    let touched: Vec<String> = look_alikes()
        .iter()
        .map(|text| REDACTOR.redact(text))
        .filter(|redacted| matches!(redacted.text, Cow::Owned(_)))
        .map(|redacted| redacted.text.into_owned())
        .collect();
    assert!(touched.is_empty(), "{touched:#?}");
}

#[test]
fn every_rule_finds_an_example_on_its_own() {
    let RuleFile { placeholder, rule: rules } = toml::from_str(BUILTIN).expect("valid rules");
    let examples = examples();
    for rule in &rules {
        let alone = Redactor::with_rules(&placeholder, vec![rule.clone()]).expect("a valid rule");
        let found = examples.iter().filter(|example| example.kind == rule.kind).any(
            |Example { before, secret, after, .. }| {
                !alone.redact(&format!("{before}{secret}{after}")).found.is_empty()
            },
        );
        assert!(found, "no example for the rule {:?} {}", rule.kind, rule.pattern);
    }
    let kinds: BTreeSet<&str> = rules.iter().map(|rule| rule.kind.as_str()).collect();
    assert!(kinds.len() >= 35, "{}", kinds.len());
}

#[test]
fn kinds_come_in_order_of_appearance() {
    let text = format!("password=hunter2 and ghp_{} and 4111111111111111", alnum(36));
    assert_eq!(REDACTOR.redact(&text).found, ["password", "github token", "card number"]);
}

#[test]
fn an_earlier_redaction_shields_nothing_but_itself() {
    let token = format!("ghp_{}", alnum(36));
    let dressed_up = format!("[redacted: {token}]");
    assert_eq!(REDACTOR.redact(&dressed_up).text, "[redacted: [redacted: github token]]");
    let partly = "password: \"part [redacted: jwt] rest\"";
    let parts = "password: \"[redacted: password][redacted: jwt][redacted: password]\"";
    assert_eq!(REDACTOR.redact(partly).text, parts);
}

#[test]
fn further_rules_take_precedence() {
    let rule: Rule =
        toml::from_str("kind = 'badge'\nkeywords = ['ACME-']\npattern = 'ACME-[0-9]{4}'").expect("a rule");
    let redactor = Redactor::new(&[rule]).expect("a valid rule");
    assert_eq!(redactor.redact("password: ACME-1234").text, "password: [redacted: badge]");
}

#[test]
fn malformed_rules_are_refused() {
    let rule = |kind: &str, keyword: &str, pattern: &str| Rule {
        kind: kind.into(),
        keywords: vec![keyword.into()],
        pattern: pattern.into(),
        except: None,
        entropy: None,
        check: None,
    };
    let error = |rule| Redactor::new(&[rule]).err().expect("a refusal");
    assert!(matches!(error(rule("Badge 7", "x", "x")), Error::Kind(_)));
    assert!(matches!(error(rule("", "x", "x")), Error::Kind(_)));
    assert!(matches!(error(rule("badge", "", "x")), Error::Keyword(_)));
    assert!(matches!(error(rule("badge", "x", "(")), Error::Pattern { .. }));
    assert!(toml::from_str::<Rule>("kind = 'a'\npattern = 'a'\nregex = 'b'").is_err());
}

#[test]
fn rules_may_ask_for_entropy() {
    let rule: Rule = toml::from_str("kind = 'blob'\npattern = '[a-z0-9]{8}'\nentropy = 2.5").expect("a rule");
    let redactor = Redactor::new(&[rule]).expect("a valid rule");
    assert_eq!(redactor.redact("aaaaaaab 1a2b3c4d").text, "aaaaaaab [redacted: blob]");
}

#[test]
fn checksums() {
    assert!(luhn("4111111111111111"));
    assert!(!luhn("4111111111111112"));
    assert!(iban("DE89 3704 0044 0532 0130 00"));
    assert!(!iban("DE88 3704 0044 0532 0130 00"));
    assert!(!iban("DE"));
}

/// Each round is linear, so the whole is as long as their number does not grow with the text.
#[test]
fn repetition_takes_few_rounds() {
    for Example { before, secret, after, .. } in examples() {
        for unit in [format!("{before}{secret}{after}"), secret, before.to_owned()] {
            let mut text = unit.repeat(30);
            let mut rounds = 0;
            while let Some(less) = REDACTOR.round(&text, &mut Vec::new()) {
                text = less;
                rounds += 1;
            }
            assert!(rounds <= 3, "{rounds} rounds for {unit}");
        }
    }
}

fn text_of_fragments() -> impl Strategy<Value = String> {
    let fragments: Vec<String> = examples()
        .into_iter()
        .flat_map(|Example { before, secret, after, .. }| [before.to_owned(), secret, after.to_owned()])
        .chain(look_alikes())
        .chain(
            ["[redacted: ", "]", "[redacted: jwt]", "=", "\"", " ", "\n", "é", "://", "@"].map(str::to_owned),
        )
        .collect();
    let fragment = prop_oneof![3 => prop::sample::select(fragments), 1 => "\\PC{0,12}"];
    prop::collection::vec(fragment, 0..8).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn any_text_is_survived(text in any::<String>()) {
        let _ = REDACTOR.redact(&text);
    }

    #[test]
    fn redacting_twice_changes_nothing(text in text_of_fragments()) {
        let once = REDACTOR.redact(&text);
        let twice = REDACTOR.redact(&once.text);
        prop_assert_eq!(&twice.text, &once.text);
        prop_assert!(twice.found.is_empty());
    }

    #[test]
    fn a_text_changes_exactly_if_something_was_found(text in text_of_fragments()) {
        let redacted = REDACTOR.redact(&text);
        prop_assert_eq!(redacted.found.is_empty(), matches!(redacted.text, Cow::Borrowed(_)));
    }
}
