package io.farheap.procedure.translate.flow;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * Strongly connected components that contain a cycle, by Kosaraju's two searches. The first search lists the nodes in
 * the order in which it leaves them. The second takes them in reverse and searches against the edges: the nodes that it
 * reaches from one of them are its component.
 */
final class StronglyConnectedComponents {

    private StronglyConnectedComponents() {}

    static List<BitSet> of(BitSet among, int[][] next, int[][] before) {
        int[] order = order(among, next);
        BitSet left = (BitSet) among.clone();
        List<BitSet> found = new ArrayList<>();
        ArrayDeque<Integer> due = new ArrayDeque<>();
        for (int i = order.length - 1; i >= 0; i--) {
            int root = order[i];
            if (!left.get(root)) {
                continue;
            }
            BitSet component = new BitSet();
            left.clear(root);
            due.push(root);
            while (!due.isEmpty()) {
                int node = due.pop();
                component.set(node);
                for (int other : before[node]) {
                    if (left.get(other)) {
                        left.clear(other);
                        due.push(other);
                    }
                }
            }
            if (component.cardinality() > 1 || contains(next[root], root)) {
                found.add(component);
            }
        }
        return found;
    }

    private static boolean contains(int[] nodes, int node) {
        boolean found = false;
        for (int other : nodes) {
            found |= other == node;
        }
        return found;
    }

    /** The nodes in the order in which a depth-first search leaves them. */
    private static int[] order(BitSet among, int[][] next) {
        int[] order = new int[among.cardinality()];
        int count = 0;
        BitSet seen = new BitSet();
        int[] stack = new int[order.length];
        int[] tried = new int[order.length];
        for (int root = among.nextSetBit(0); root >= 0; root = among.nextSetBit(root + 1)) {
            if (seen.get(root)) {
                continue;
            }
            seen.set(root);
            int depth = 0;
            stack[0] = root;
            tried[0] = 0;
            while (depth >= 0) {
                int node = stack[depth];
                if (tried[depth] == next[node].length) {
                    order[count++] = node;
                    depth--;
                    continue;
                }
                int other = next[node][tried[depth]++];
                if (among.get(other) && !seen.get(other)) {
                    seen.set(other);
                    depth++;
                    stack[depth] = other;
                    tried[depth] = 0;
                }
            }
        }
        return order;
    }
}
