use std::{
    error::Error as _,
    fs,
    num::NonZeroUsize,
    path::Path,
    sync::{
        LazyLock,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use rten::{Model, Value};

use super::{Cached, Embed, Embedding, Error, Onnx, lookup};

const TWO: NonZeroUsize = NonZeroUsize::new(2).expect("two is not zero");
const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/model/model.onnx");
const TOKENIZER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/model/tokenizer.json");

static BUNDLED: LazyLock<Onnx> =
    LazyLock::new(|| Onnx::bundled(NonZeroUsize::MIN).expect("the bundled model loads"));

fn one(text: &str) -> Embedding {
    BUNDLED.embed(&[text]).expect("any text embeds").remove(0)
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn similarity(a: &str, b: &str) -> f32 {
    cosine(&one(a).vector, &one(b).vector)
}

#[test]
fn similar_texts_are_closer_than_others() {
    let question = "How do I restart the web server?";
    let close = similarity(question, "To reboot the HTTP service, run systemctl restart nginx.");
    let far = similarity(question, "My grandmother bakes an excellent apple pie.");
    assert!(close > far + 0.2, "{close} against {far}");
}

#[test]
fn vectors_have_the_dimension_and_length_one() {
    assert_eq!(BUNDLED.model(), "all-MiniLM-L6-v2");
    assert_eq!(BUNDLED.dimension(), 384);
    for text in ["", "one", "a sentence of a few words"] {
        let vector = one(text).vector;
        assert_eq!(vector.len(), 384);
        assert!((cosine(&vector, &vector) - 1.0).abs() < 1e-5);
    }
}

#[test]
fn vectors_match_the_reference() {
    #[derive(serde::Deserialize)]
    struct Reference {
        text: String,
        vector: Vec<f32>,
    }
    let data = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/minilm.json"));
    let references: Vec<Reference> = serde_json::from_str(data).expect("the reference is JSON");
    assert_eq!(references.len(), 10);
    for reference in references {
        let cosine = cosine(&one(&reference.text).vector, &reference.vector);
        assert!(cosine > 0.99, "{cosine} for {}", reference.text);
    }
}

#[test]
fn company_and_threads_do_not_change_a_bit() {
    let texts: Vec<String> =
        (0..40).map(|i| "deploy the service again ".repeat(1 + i % 7) + &i.to_string()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let parallel = Onnx::bundled(TWO).expect("the bundled model loads");
    let together = parallel.embed(&texts).expect("texts embed");
    let behind = parallel.embed_behind(&texts).expect("texts embed");
    let alone: Vec<Embedding> = texts.iter().map(|text| one(text)).collect();
    assert!(together == alone);
    assert!(behind == alone);
}

#[test]
fn many_threads_share_one_embedder() {
    let expected = one("shared");
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert!(one("shared") == expected));
        }
    });
}

#[test]
fn no_texts_give_no_embeddings() {
    assert!(BUNDLED.embed(&[]).expect("nothing embeds").is_empty());
}

#[test]
fn only_long_texts_are_truncated() {
    assert!(!one(&"word ".repeat(254)).truncated);
    assert!(one(&"word ".repeat(255)).truncated);
    assert!(one(&"x".repeat(9_000)).truncated);
    assert!(!one(&("word".to_owned() + &" ".repeat(100_000))).truncated);
    assert_eq!(one(&"word ".repeat(300)).vector, one(&"word ".repeat(20_000)).vector);
}

#[test]
fn any_text_embeds() {
    let long = "é".repeat(100_000);
    let texts = [
        "",
        " \n\t ",
        "\0",
        "a\0b",
        "猫は静かに眠っている",
        "👩‍👩‍👧‍👦 🦊",
        "\u{202e}\u{fffd}\u{feff}",
        "[PAD] [SEP]",
        &long,
    ];
    assert_eq!(BUNDLED.embed(&texts).expect("any text embeds").len(), texts.len());
}

#[test]
fn a_huge_text_is_embedded_by_its_beginning() {
    for unit in ["lorem ipsum ", "猫", " "] {
        assert!(one(&unit.repeat(2_000_000)) == one(&unit.repeat(20_000)), "{unit:?}");
    }
    // A word without an end is no word of the model's.
    assert_eq!(one(&"x".repeat(2_000_000)).vector.len(), 384);
}

#[test]
fn files_give_the_same_vectors_under_another_name() {
    let other = Onnx::from_files(MODEL.as_ref(), TOKENIZER.as_ref(), TWO).expect("files load");
    assert_eq!(other.model(), "model-8199be6f699a");
    assert_eq!(other.dimension(), 384);
    let vectors = other.embed(&["same"]).expect("texts embed");
    assert!(vectors == [one("same")]);
}

#[test]
fn a_missing_file_is_named() {
    let failure = |model: &str, tokenizer: &str| {
        Onnx::from_files(model.as_ref(), tokenizer.as_ref(), TWO).err().expect("a missing file fails")
    };
    let error = failure("/no/model.onnx", TOKENIZER);
    assert!(matches!(error, Error::Read { .. }));
    assert_eq!(error.to_string(), "cannot read /no/model.onnx");
    assert!(error.source().is_some());
    let error = failure(MODEL, "/no/tokenizer.json");
    assert_eq!(error.to_string(), "cannot read /no/tokenizer.json");
}

#[test]
fn a_damaged_file_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder for tests");
    let load = |model: &Path, tokenizer: &Path| Onnx::from_files(model, tokenizer, TWO).err();
    let model = fs::read(MODEL).expect("the model is there");
    let path = folder.path().join("bad");
    for content in [&model[..1_000_000], b"", b"no model", &[0xff; 64]] {
        fs::write(&path, content).expect("the folder is writable");
        let error = load(&path, TOKENIZER.as_ref());
        let expected = matches!(error, Some(Error::Model { .. } | Error::Unsuitable { .. }));
        assert!(expected, "{error:?}");
        let error = load(MODEL.as_ref(), &path);
        assert!(matches!(error, Some(Error::Tokenizer { .. })), "{error:?}");
    }
}

/// Counts the texts that reach it.
struct Counting(AtomicUsize);

impl Embed for &Counting {
    fn model(&self) -> &'static str {
        "counting"
    }

    fn dimension(&self) -> usize {
        1
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, Error> {
        self.0.fetch_add(texts.len(), Ordering::Relaxed);
        let embed = |text: &&str| match text.parse() {
            Ok(number) => Ok(Embedding { vector: vec![number], truncated: false }),
            Err(_) => Err(Error::Direction),
        };
        texts.iter().map(embed).collect()
    }

    fn embed_behind(&self, texts: &[&str]) -> Result<Vec<Embedding>, Error> {
        self.embed(texts)
    }
}

#[test]
fn known_texts_are_not_embedded_again() {
    let counting = Counting(AtomicUsize::new(0));
    let cached = Cached::new(&counting, TWO);
    assert_eq!((cached.model(), cached.dimension()), ("counting", 1));
    let embed = |texts: &[&str]| {
        let embeddings = cached.embed(texts).expect("numbers embed");
        let numbers: Vec<f32> = embeddings.iter().map(|e| e.vector[0]).collect();
        (numbers, counting.0.load(Ordering::Relaxed))
    };
    assert_eq!(embed(&["1", "2"]), (vec![1.0, 2.0], 2));
    assert_eq!(embed(&["2", "1"]), (vec![2.0, 1.0], 2));
    assert_eq!(embed(&["3", "1"]), (vec![3.0, 1.0], 3));
    assert_eq!(embed(&["1", "2", "3"]), (vec![1.0, 2.0, 3.0], 4));
    assert_eq!(embed(&[]), (vec![], 4));
}

#[test]
fn what_nobody_waits_for_displaces_nothing() {
    let counting = Counting(AtomicUsize::new(0));
    let cached = Cached::new(&counting, TWO);
    cached.embed(&["1", "2"]).expect("numbers embed");
    cached.embed_behind(&["3", "4", "5"]).expect("numbers embed");
    cached.embed(&["1", "2"]).expect("numbers embed");
    assert_eq!(counting.0.load(Ordering::Relaxed), 5);
}

#[test]
fn failures_are_not_remembered() {
    let counting = Counting(AtomicUsize::new(0));
    let cached = Cached::new(&counting, TWO);
    for attempt in 1..=2 {
        assert!(cached.embed(&["none"]).is_err());
        assert_eq!(counting.0.load(Ordering::Relaxed), attempt);
    }
}

#[test]
fn a_small_lookup_table_gives_the_same_bits() {
    let original = fs::read(MODEL).expect("the model is there");
    let small = lookup::shrink(&original).expect("the model has a quantised table");
    assert!(lookup::shrink(&small).is_none());
    let run = |onnx| {
        let model = Model::load(onnx).expect("the model loads");
        let tensor = |data: [i32; 4]| Value::from_shape([1, 4], data.to_vec()).expect("it fits");
        let input = |name, data| {
            let id = model.node_id(name).expect("the input exists");
            (id, tensor(data).into())
        };
        let inputs = vec![
            input("input_ids", [101, 7592, 2088, 102]),
            input("attention_mask", [1; 4]),
            input("token_type_ids", [0; 4]),
        ];
        let output = model.run(inputs, model.output_ids(), None);
        let tokens = output.expect("the model runs").remove(0);
        tokens.into_shape_vec::<f32, 3>().expect("it has floats")
    };
    assert!(run(original) == run(small));
}
