//! Keeps quantised lookup tables small in memory.

use rten_onnx::onnx::{GraphProto, ModelProto, NodeProto};

/// Rewrites every `Gather(Cast(codes) * scales, ids)` in a model to
/// `Cast(Gather(codes, ids)) * Gather(scales, ids)`.
///
/// The first form is constant up to the lookup, so the runtime would expand the
/// whole table to floats and keep it. The second form expands only the rows
/// that are looked up. Both give the same bits.
///
/// Returns the rewritten model, or `None` when there is nothing to gain.
pub(super) fn shrink(onnx: &[u8]) -> Option<Vec<u8>> {
    let mut model = ModelProto::parse_buf(onnx).ok()?;
    let graph = model.graph.as_mut()?;
    let tables: Vec<Table> = (0..graph.node.len()).filter_map(|gather| Table::find(graph, gather)).collect();
    if tables.is_empty() {
        return None;
    }
    for table in &tables {
        table.rewrite(graph);
    }
    model.write_buf().ok()
}

/// The positions of the nodes that expand and read one table.
struct Table {
    cast: usize,
    scale: usize,
    gather: usize,
}

impl Table {
    fn find(graph: &GraphProto, gather: usize) -> Option<Self> {
        let rows = operator(graph, gather, "Gather")?;
        if rows.attribute.iter().any(|axis| axis.i != Some(0)) {
            return None;
        }
        let scale = sole_producer(graph, rows.input.first()?)?;
        let [floats, scales] = operator(graph, scale, "Mul")?.input.as_slice() else {
            return None;
        };
        let cast = sole_producer(graph, floats)?;
        let codes = operator(graph, cast, "Cast")?.input.first()?;
        let one_scale_per_row =
            shape(graph, codes)?.len() == 2 && shape(graph, scales)? == [*shape(graph, codes)?.first()?, 1];
        one_scale_per_row.then_some(Self { cast, scale, gather })
    }

    fn rewrite(&self, graph: &mut GraphProto) {
        let nodes = &mut graph.node;
        let table = nodes[self.gather].input[0].clone();
        let rows = nodes[self.gather].output[0].clone();
        let part = |name| format!("{table}/{name}");

        let mut scales = nodes[self.gather].clone();
        scales.name = Some(part("gather_scales"));
        scales.input[0] = nodes[self.scale].input.swap_remove(1);
        scales.output = vec![part("scales")];

        nodes[self.gather].input[0] = nodes[self.cast].input.swap_remove(0);
        nodes[self.gather].output = vec![part("codes")];
        nodes[self.cast].input = vec![part("codes")];
        nodes[self.cast].output = vec![part("floats")];
        nodes[self.scale].input = vec![part("floats"), part("scales")];
        nodes[self.scale].output = vec![rows];
        nodes.push(scales);
    }
}

fn operator<'a>(graph: &'a GraphProto, node: usize, name: &str) -> Option<&'a NodeProto> {
    let node = graph.node.get(node)?;
    (node.op_type.as_deref() == Some(name)).then_some(node)
}

/// The node that makes `value`, when exactly one other node reads it.
fn sole_producer(graph: &GraphProto, value: &String) -> Option<usize> {
    let readers = graph.node.iter().flat_map(|node| &node.input);
    if readers.filter(|input| *input == value).count() != 1 {
        return None;
    }
    graph.node.iter().position(|node| node.output.contains(value))
}

fn shape<'a>(graph: &'a GraphProto, constant: &str) -> Option<&'a [i64]> {
    graph
        .initializer
        .iter()
        .find(|tensor| tensor.name.as_deref() == Some(constant))
        .map(|tensor| tensor.dims.as_slice())
}
