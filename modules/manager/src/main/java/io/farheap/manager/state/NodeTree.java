package io.farheap.manager.state;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Walks all nodes of the state except those that say which manager writes it, also nodes that this release does not
 * know.
 */
final class NodeTree {

    /** The most nodes in memory at once. */
    private static final int PIECE = 1_000;
    /** A model has 900,000 bytes at most, and counts as this many nodes. */
    private static final int MODEL = 20;

    private static final int LISTS = 16;

    private NodeTree() {}

    /** Receives the nodes in pieces, parents before their children. */
    interface Visitor {
        void visit(List<String> paths, List<PipelinedReads.Node> nodes) throws Exception;
    }

    /** @throws StateException if another process removes nodes meanwhile */
    static void walk(PipelinedReads reads, Visitor visitor) throws Exception {
        Deque<String> ahead = new ArrayDeque<>(List.of(NodePaths.ROOT));
        Deque<String> parents = new ArrayDeque<>();
        while (!ahead.isEmpty() || !parents.isEmpty()) {
            // Lists of children are long: read no more of them than are needed.
            if (ahead.size() < PIECE && !parents.isEmpty()) {
                List<String> some = new ArrayList<>();
                while (some.size() < LISTS && !parents.isEmpty()) {
                    some.add(parents.remove());
                }
                list(reads, some, ahead);
                continue;
            }
            List<String> paths = piece(ahead);
            List<PipelinedReads.Node> nodes = new ArrayList<>(paths.size());
            for (PipelinedReads.Node node : reads.nodes(paths)) {
                if (node == null) {
                    throw new StateException("another process has removed " + paths.get(nodes.size()) + " meanwhile");
                }
                if (node.children() > 0) {
                    parents.add(paths.get(nodes.size()));
                }
                nodes.add(node);
            }
            visitor.visit(paths, nodes);
        }
    }

    private static void list(PipelinedReads reads, List<String> parents, Deque<String> ahead) throws Exception {
        List<List<String>> children = reads.children(parents);
        for (int i = 0; i < parents.size(); i++) {
            String parent = parents.get(i);
            for (String name : children.get(i)) {
                String path = parent + "/" + name;
                if (!path.equals(NodePaths.EPOCH) && !path.equals(NodePaths.WRITES)) {
                    ahead.add(path);
                }
            }
        }
    }

    private static List<String> piece(Deque<String> from) {
        List<String> taken = new ArrayList<>();
        for (int size = 0; size < PIECE && !from.isEmpty(); ) {
            String path = from.remove();
            size += path.startsWith(NodePaths.MODELS) ? MODEL : 1;
            taken.add(path);
        }
        return taken;
    }
}
