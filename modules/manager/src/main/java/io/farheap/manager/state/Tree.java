package io.farheap.manager.state;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** All nodes of the state but those that say who writes it, as they are: also those that this release does not know. */
final class Tree {

    /** Nodes that are in memory at once; a model has 900,000 bytes at most. */
    private static final int PIECE = 100;

    private static final int LISTS = 16;

    private Tree() {}

    /** Of one node after the other, parents before their children. */
    interface Visitor {
        void visit(List<String> paths, List<Reads.Node> nodes) throws Exception;
    }

    /** @throws StateException somebody removes what is there meanwhile */
    static void walk(Reads reads, Visitor visitor) throws Exception {
        Deque<String> ahead = new ArrayDeque<>(List.of(NodePaths.ROOT));
        Deque<String> parents = new ArrayDeque<>();
        while (!ahead.isEmpty() || !parents.isEmpty()) {
            // Lists of children are long: no more of them than are needed.
            if (ahead.size() < PIECE && !parents.isEmpty()) {
                list(reads, take(parents, LISTS), ahead);
                continue;
            }
            List<String> paths = take(ahead, PIECE);
            List<Reads.Node> nodes = new ArrayList<>(paths.size());
            for (Reads.Node node : reads.nodes(paths)) {
                if (node == null) {
                    throw new StateException("somebody has removed " + paths.get(nodes.size()) + " meanwhile");
                }
                if (node.children() > 0) {
                    parents.add(paths.get(nodes.size()));
                }
                nodes.add(node);
            }
            visitor.visit(paths, nodes);
        }
    }

    private static void list(Reads reads, List<String> parents, Deque<String> ahead) throws Exception {
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

    private static List<String> take(Deque<String> from, int most) {
        List<String> taken = new ArrayList<>(Math.min(most, from.size()));
        while (taken.size() < most && !from.isEmpty()) {
            taken.add(from.remove());
        }
        return taken;
    }
}
