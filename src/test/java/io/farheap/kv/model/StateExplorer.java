package io.farheap.kv.model;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Explores the states of a model, nearest first, so the first wrong answer that it finds has the shortest history. Of a
 * state that it has met it keeps a hash of 64 bits alone: of ten million states two have one hash, and one of these
 * stays unexplored, in three of a million runs. Beside that it keeps the transition by which it met each state, from
 * which it prints the history.
 */
final class StateExplorer {

    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long FACTOR = 0x9E3779B97F4A7C15L;
    private static final int SHIFT = 29;
    private static final int FIRST_SIZE = 1 << 16;

    private final MapModel model;
    private final int mostStates;
    /** An open hash table of the hashes of states. */
    private long[] hashes = new long[FIRST_SIZE];

    private int states;
    /** By the number of a state: the number of the one before it, and the transition. */
    private int[] parents = new int[FIRST_SIZE];

    private byte[] transitions = new byte[FIRST_SIZE];

    /**
     * What an exploration has found.
     *
     * @param states how many states there are, or how many were met
     * @param complete whether all states were explored
     * @param history the shortest history that is wrong, a line for each access; empty if there is none
     */
    record Exploration(int states, boolean complete, List<String> history) {

        @Override
        public String toString() {
            String head = history.isEmpty() ? "nothing wrong" : "wrong after " + history.size() + " accesses";
            String bound = complete || !history.isEmpty() ? "" : ", and there are more";
            return head + " in " + states + " states" + bound + "\n" + String.join("\n", history);
        }
    }

    private StateExplorer(MapModel model, int mostStates) {
        this.model = model;
        this.mostStates = mostStates;
    }

    /** Explores a scenario, until an answer is wrong or so many states were met. */
    static Exploration explore(ModelScenario scenario, int mostStates) {
        return new StateExplorer(new MapModel(scenario), mostStates).explore();
    }

    private Exploration explore() {
        int[] next = new int[MapModel.MOST_TRANSITIONS];
        ModelState state = model.first();
        ModelState after = state.copy();
        meet(state, 0, 0);
        List<byte[]> level = List.of(state.bytes.clone());
        int number = 0;
        while (!level.isEmpty()) {
            List<byte[]> following = new ArrayList<>();
            for (byte[] bytes : level) {
                state.become(bytes);
                int count = model.transitions(state, next);
                for (int i = 0; i < count; i++) {
                    after.become(bytes);
                    if (!model.go(after, next[i])) {
                        return new Exploration(states, false, history(number, next[i]));
                    }
                    if (meet(after, number, next[i])) {
                        following.add(after.bytes.clone());
                    }
                }
                number++;
                if (states >= mostStates) {
                    return new Exploration(states, false, List.of());
                }
            }
            level = following;
        }
        return new Exploration(states, true, List.of());
    }

    /** Notes a state. @return whether it is new */
    private boolean meet(ModelState state, int parent, int transition) {
        if (states >= hashes.length / 2) {
            growTable();
        }
        if (!add(hash(state.bytes))) {
            return false;
        }
        if (states == parents.length) {
            parents = Arrays.copyOf(parents, 2 * states);
            transitions = Arrays.copyOf(transitions, 2 * states);
        }
        parents[states] = parent;
        transitions[states] = (byte) transition;
        states++;
        return true;
    }

    private void growTable() {
        long[] old = hashes;
        hashes = new long[2 * old.length];
        for (long hash : old) {
            if (hash != 0) {
                add(hash);
            }
        }
    }

    private boolean add(long hash) {
        int at = (int) (hash >>> SHIFT) & hashes.length - 1;
        while (hashes[at] != 0) {
            if (hashes[at] == hash) {
                return false;
            }
            at = at + 1 & hashes.length - 1;
        }
        hashes[at] = hash;
        return true;
    }

    /** @return a hash that is not 0 */
    private static long hash(byte[] bytes) {
        long hash = bytes.length;
        int at = 0;
        for (; at + Long.BYTES <= bytes.length; at += Long.BYTES) {
            hash = mix(hash ^ (long) LONGS.get(bytes, at));
        }
        long rest = 0;
        for (; at < bytes.length; at++) {
            rest = rest << Byte.SIZE | bytes[at] & 0xFF;
        }
        hash = mix(hash ^ rest);
        return hash == 0 ? 1 : hash;
    }

    private static long mix(long value) {
        long mixed = (value ^ value >>> 32) * FACTOR;
        mixed = (mixed ^ mixed >>> 29) * 0xBF58476D1CE4E5B9L;
        return mixed ^ mixed >>> 32;
    }

    private List<String> history(int last, int wrong) {
        List<Integer> path = new ArrayList<>();
        path.add(wrong);
        for (int number = last; number != 0; number = parents[number]) {
            path.add((int) transitions[number]);
        }
        ModelState state = model.first();
        List<String> lines = new ArrayList<>();
        for (int transition : path.reversed()) {
            lines.add(model.explain(state, transition));
        }
        return lines;
    }
}
