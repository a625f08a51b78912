//! The neural network, from token ids to vectors.

use std::sync::Arc;

use rten::{Model, ModelOptions, NodeId, RunOptions, ThreadPool, Value};

use super::{Error, lookup};

/// What every ONNX file starts with: the tag of the format version.
const VERSION_TAG: &[u8] = &[0x08];

/// A loaded ONNX text encoder.
pub(super) struct Network {
    model: Model,
    ids: NodeId,
    mask: Option<NodeId>,
    types: Option<NodeId>,
    output: NodeId,
}

impl Network {
    /// Loads the ONNX file `onnx`. `name` is for error messages only.
    pub(super) fn new(name: &str, onnx: &[u8]) -> Result<Self, Error> {
        let unsuitable = |reason| Error::Unsuitable { model: name.to_owned(), reason };
        // The parser can loop for ever on other data.
        if !onnx.starts_with(VERSION_TAG) {
            return Err(unsuitable("it is not an ONNX file"));
        }
        let small = lookup::shrink(onnx).unwrap_or_else(|| onnx.to_vec());
        let model = ModelOptions::with_all_ops()
            .prepack_weights(true)
            .load(small)
            .map_err(|source| Error::Model { model: name.to_owned(), source })?;
        let input = |name| model.find_node(name).filter(|id| model.input_ids().contains(id));
        Ok(Self {
            ids: input("input_ids").ok_or_else(|| unsuitable("it has no input input_ids"))?,
            mask: input("attention_mask"),
            types: input("token_type_ids"),
            output: *model.output_ids().first().ok_or_else(|| unsuitable("it has no output"))?,
            model,
        })
    }

    /// Computes one vector of length 1 for each of `texts`.
    ///
    /// All texts must have the same number of tokens. There is no padding, so a
    /// text gives the same bits in any company.
    pub(super) fn run(&self, texts: &[&[i32]], pool: Arc<ThreadPool>) -> Result<Vec<Vec<f32>>, Error> {
        let ids = texts.concat();
        let shape = [texts.len(), ids.len() / texts.len().max(1)];
        let tensor = |data| Value::from_shape(shape, data).map_err(|e| Error::Output(e.into()));
        let mut inputs = Vec::with_capacity(3);
        if let Some(mask) = self.mask {
            inputs.push((mask, tensor(vec![1_i32; ids.len()])?.into()));
        }
        if let Some(types) = self.types {
            inputs.push((types, tensor(vec![0_i32; ids.len()])?.into()));
        }
        inputs.push((self.ids, tensor(ids)?.into()));

        let options = RunOptions::default().with_thread_pool(Some(pool));
        let [output] = self.model.run_n(inputs, [self.output], Some(options)).map_err(Error::Run)?;
        let ([batch, tokens, dimension], data) =
            output.into_shape_vec::<f32, 3>().map_err(|e| Error::Output(e.into()))?;
        if batch != texts.len() || data.is_empty() {
            return Err(Error::Output("a dimension of the output is wrong".into()));
        }
        data.chunks(tokens * dimension).map(|text| direction(text, dimension)).collect()
    }
}

/// The direction of the mean of the token vectors.
fn direction(tokens: &[f32], dimension: usize) -> Result<Vec<f32>, Error> {
    // The sum points the same way as the mean.
    let mut sum = vec![0.0; dimension];
    for token in tokens.chunks_exact(dimension) {
        for (total, value) in sum.iter_mut().zip(token) {
            *total += value;
        }
    }
    let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
    if !length.is_normal() {
        return Err(Error::Direction);
    }
    for value in &mut sum {
        *value /= length;
    }
    Ok(sum)
}
