package io.farheap.kv.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * A model of the leased engine's protocol: a server's thread that sets one key, value after value, and clients that get
 * it by READs and calls. All interleavings of the server's stores, of the words of READs in any order, and of the ends
 * of leases are explored. The values grow, so the history is linearizable if no get returns less than what was stored,
 * or found, before it began, nor more than what is being stored.
 */
class LeaseModelTest {

    /** The rules of the protocol, each of which can be left out. */
    private enum Rule {
        /** A block's checksum is seeded with its incarnation, and a READ compares both. */
        CHECKS,
        /** A client's lease ends before the server's: clocks are as good as is assumed. */
        CLOCKS,
        /** A block is used again only when its lease is over. */
        DELAYED_RECLAMATION,
        /** The old block is marked before the set is answered. */
        MARK_BEFORE_ANSWER,
        /** A READ counts only if the lease held when it had completed. */
        LEASE_AT_COMPLETION
    }

    private static final int BLOCKS = 2;
    private static final int WORDS = 3;
    private static final int DEAD = 0;
    private static final int UNBORN = 1;
    private static final int LIVE = 2;
    private static final int NO_BLOCK = BLOCKS;

    // The server's steps within a set.
    private static final int IDLE = 0;
    private static final int BIRTH = 1;
    private static final int FIRST_WORD = 2;
    private static final int SECOND_WORD = 3;
    private static final int MARK = 4;
    private static final int SAY_LIVE = 5;
    private static final int ANSWER = 6;
    private static final int LATE_MARK = 7;

    // A client's steps.
    private static final int BETWEEN = 0;
    private static final int READING = 1;
    private static final int ASKING = 2;
    private static final int RENEWING = 3;

    /** The number of clients is the length of its arrays. */
    private static final class State {
        // Blocks: incarnation and state of the mark; value and incarnation of each half of the body.
        int[] incarnation = new int[BLOCKS];
        int[] state = new int[BLOCKS];
        int[] first = new int[BLOCKS];
        int[] second = new int[BLOCKS];
        int[] serverLeases = new int[BLOCKS];
        int table = NO_BLOCK;
        int lastIncarnation;
        int step;
        int target;
        int old;
        int stored;
        int answered;
        int[] clientStep;
        int[] gets;
        int[] least;
        int[] found;
        int[] pointer;
        int[] pointerIncarnation;
        int[] lease;
        int[] words;
        int[] copyMark;
        int[] copyFirst;
        int[] copySecond;

        State(int clients) {
            clientStep = new int[clients];
            gets = new int[clients];
            least = new int[clients];
            found = new int[clients];
            pointer = new int[clients];
            Arrays.fill(pointer, NO_BLOCK);
            pointerIncarnation = new int[clients];
            lease = new int[clients];
            words = new int[clients];
            copyMark = new int[clients];
            copyFirst = new int[clients];
            copySecond = new int[clients];
        }

        State copy() {
            State copy = new State(gets.length);
            copy.incarnation = incarnation.clone();
            copy.state = state.clone();
            copy.first = first.clone();
            copy.second = second.clone();
            copy.serverLeases = serverLeases.clone();
            copy.table = table;
            copy.lastIncarnation = lastIncarnation;
            copy.step = step;
            copy.target = target;
            copy.old = old;
            copy.stored = stored;
            copy.answered = answered;
            copy.clientStep = clientStep.clone();
            copy.gets = gets.clone();
            copy.least = least.clone();
            copy.found = found.clone();
            copy.pointer = pointer.clone();
            copy.pointerIncarnation = pointerIncarnation.clone();
            copy.lease = lease.clone();
            copy.words = words.clone();
            copy.copyMark = copyMark.clone();
            copy.copyFirst = copyFirst.clone();
            copy.copySecond = copySecond.clone();
            return copy;
        }

        String key() {
            return table + "," + lastIncarnation + "," + step + "," + target + "," + old + "," + stored + "," + answered
                    + Arrays.toString(incarnation) + Arrays.toString(state) + Arrays.toString(first)
                    + Arrays.toString(second) + Arrays.toString(serverLeases) + Arrays.toString(clientStep)
                    + Arrays.toString(gets) + Arrays.toString(least) + Arrays.toString(found) + Arrays.toString(pointer)
                    + Arrays.toString(pointerIncarnation) + Arrays.toString(lease) + Arrays.toString(words)
                    + Arrays.toString(copyMark) + Arrays.toString(copyFirst) + Arrays.toString(copySecond);
        }
    }

    private final Set<String> met = new HashSet<>();
    private final Deque<State> next = new ArrayDeque<>();
    private Set<Rule> rules = Set.of();
    private String wrong = "";
    /** How many sets there are, and gets of each client. */
    private int sets = 3;

    private int gets = 3;

    /** @return what is wrong, or an empty text */
    private String explore(int clients, Set<Rule> with) {
        rules = with;
        met.clear();
        next.clear();
        wrong = "";
        push(new State(clients));
        while (!next.isEmpty() && wrong.isEmpty()) {
            State state = next.removeFirst();
            serve(state);
            for (int client = 0; client < clients; client++) {
                go(state, client);
            }
            endLeases(state, clients);
        }
        return wrong;
    }

    private void push(State state) {
        if (met.add(state.key())) {
            next.addLast(state);
        }
    }

    /** The next store of the server's thread. A get by a call comes between two sets. */
    private void serve(State state) {
        State after = state.copy();
        switch (state.step) {
            case IDLE -> {
                if (state.stored == sets) {
                    return;
                }
                int free = state.table == 0 ? 1 : 0;
                boolean leased = state.serverLeases[free] != 0;
                if (leased && rules.contains(Rule.DELAYED_RECLAMATION)) {
                    return;
                }
                after.stored++;
                after.old = state.table;
                after.target = free;
                after.step = BIRTH;
                push(after);
                return;
            }
            case BIRTH -> {
                after.lastIncarnation++;
                after.incarnation[state.target] = after.lastIncarnation;
                after.state[state.target] = UNBORN;
                after.step = FIRST_WORD;
            }
            case FIRST_WORD -> {
                after.first[state.target] = body(state);
                after.step = SECOND_WORD;
            }
            case SECOND_WORD -> {
                after.second[state.target] = body(state);
                after.step = rules.contains(Rule.MARK_BEFORE_ANSWER) ? MARK : SAY_LIVE;
            }
            case MARK -> {
                if (state.old != NO_BLOCK) {
                    after.state[state.old] = DEAD;
                }
                after.step = SAY_LIVE;
            }
            case SAY_LIVE -> {
                after.state[state.target] = LIVE;
                after.table = state.target;
                after.step = ANSWER;
            }
            case ANSWER -> {
                after.answered = state.stored;
                after.step = rules.contains(Rule.MARK_BEFORE_ANSWER) ? IDLE : LATE_MARK;
            }
            default -> {
                if (state.old != NO_BLOCK) {
                    after.state[state.old] = DEAD;
                }
                after.step = IDLE;
            }
        }
        push(after);
    }

    private static int body(State state) {
        return state.lastIncarnation * 10 + state.stored;
    }

    private void go(State state, int client) {
        switch (state.clientStep[client]) {
            case BETWEEN -> begin(state, client);
            case READING -> readOn(state, client);
            default -> call(state, client);
        }
    }

    private void begin(State state, int client) {
        if (state.gets[client] == gets) {
            return;
        }
        State after = state.copy();
        after.gets[client]++;
        after.least[client] = state.answered;
        for (int found : state.found) {
            after.least[client] = Math.max(after.least[client], found);
        }
        boolean reads = state.pointer[client] != NO_BLOCK && state.lease[client] != 0;
        after.clientStep[client] = reads ? READING : ASKING;
        after.words[client] = 0;
        push(after);
    }

    /** One word of the READ comes; when all have, the client judges the copy. */
    private void readOn(State state, int client) {
        int block = state.pointer[client];
        for (int word = 0; word < WORDS; word++) {
            if ((state.words[client] >> word & 1) != 0) {
                continue;
            }
            State after = state.copy();
            after.words[client] |= 1 << word;
            switch (word) {
                case 0 -> after.copyMark[client] = state.incarnation[block] * 10 + state.state[block];
                case 1 -> after.copyFirst[client] = state.first[block];
                default -> after.copySecond[client] = state.second[block];
            }
            if (after.words[client] == (1 << WORDS) - 1) {
                judge(after, client);
            }
            push(after);
        }
    }

    private void judge(State after, int client) {
        boolean live = after.copyMark[client] == after.pointerIncarnation[client] * 10 + LIVE;
        boolean whole = after.copyFirst[client] == after.copySecond[client]
                && after.copyFirst[client] / 10 == after.pointerIncarnation[client];
        if (!live || !whole && rules.contains(Rule.CHECKS)) {
            after.pointer[client] = NO_BLOCK;
            after.lease[client] = 0;
            after.clientStep[client] = ASKING;
        } else if (after.lease[client] == 0 && rules.contains(Rule.LEASE_AT_COMPLETION)) {
            after.clientStep[client] = RENEWING;
        } else {
            end(after, client, after.copyFirst[client] == after.copySecond[client] ? after.copyFirst[client] % 10 : -1);
        }
    }

    private void end(State after, int client, int value) {
        if (value < after.least[client] || value > after.stored) {
            wrong = "a get that began when " + after.least[client] + " was there found " + value;
        }
        after.found[client] = value;
        after.clientStep[client] = BETWEEN;
        after.words[client] = 0;
        after.copyMark[client] = 0;
        after.copyFirst[client] = 0;
        after.copySecond[client] = 0;
    }

    /** A call is carried out, and answered, between two sets. */
    private void call(State state, int client) {
        if (state.step != IDLE && state.step != LATE_MARK) {
            return;
        }
        State after = state.copy();
        int block = state.table;
        boolean same = block != NO_BLOCK
                && block == state.pointer[client]
                && state.incarnation[block] == state.pointerIncarnation[client];
        if (state.clientStep[client] == RENEWING && !same) {
            after.clientStep[client] = ASKING;
            push(after);
            return;
        }
        int value = block == NO_BLOCK ? 0 : state.first[block] % 10;
        if (block != NO_BLOCK) {
            after.pointer[client] = block;
            after.pointerIncarnation[client] = state.incarnation[block];
            after.lease[client] = 1;
            after.serverLeases[block] |= 1 << client;
        }
        if (state.clientStep[client] == RENEWING) {
            value = state.copyFirst[client] == state.copySecond[client] ? state.copyFirst[client] % 10 : -1;
        }
        end(after, client, value);
        push(after);
    }

    /** A client's lease ends by its clock, or by the server's: in any order if the clocks are worse than assumed. */
    private void endLeases(State state, int clients) {
        for (int client = 0; client < clients; client++) {
            if (state.lease[client] != 0) {
                State after = state.copy();
                after.lease[client] = 0;
                push(after);
            }
            for (int block = 0; block < BLOCKS; block++) {
                boolean held = (state.serverLeases[block] >> client & 1) != 0;
                boolean used = state.lease[client] != 0
                        && state.pointer[client] == block
                        && state.pointerIncarnation[client] == state.incarnation[block];
                if (held && !(used && rules.contains(Rule.CLOCKS))) {
                    State after = state.copy();
                    after.serverLeases[block] &= ~(1 << client);
                    push(after);
                }
            }
        }
    }

    private static Set<Rule> without(Rule... left) {
        EnumSet<Rule> rules = EnumSet.allOf(Rule.class);
        Arrays.asList(left).forEach(rules::remove);
        return rules;
    }

    @Test
    void withAllRulesNothingIsWrong() {
        assertEquals("", explore(1, without()));
        sets = 2;
        gets = 2;
        assertEquals("", explore(2, without()));
        assertTrue(met.size() > 10_000, met.size() + " states");
    }

    /** Leases buy speed, not truth. */
    @Test
    void withChecksNothingIsWrongWhateverClocksAndLeasesDo() {
        assertEquals("", explore(1, without(Rule.CLOCKS, Rule.DELAYED_RECLAMATION)));
        assertEquals("", explore(1, without(Rule.CLOCKS, Rule.DELAYED_RECLAMATION, Rule.LEASE_AT_COMPLETION)));
    }

    @Test
    void withLeasesNothingIsWrongWithoutChecks() {
        assertEquals("", explore(1, without(Rule.CHECKS)));
    }

    @Test
    void eachRuleThatTheOthersRestOnIsNeeded() {
        assertFalse(explore(1, without(Rule.MARK_BEFORE_ANSWER)).isEmpty());
        assertFalse(explore(1, without(Rule.CHECKS, Rule.CLOCKS)).isEmpty());
        assertFalse(explore(1, without(Rule.CHECKS, Rule.DELAYED_RECLAMATION)).isEmpty());
        assertFalse(explore(1, without(Rule.CHECKS, Rule.LEASE_AT_COMPLETION)).isEmpty());
    }
}
