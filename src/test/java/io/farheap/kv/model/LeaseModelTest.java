package io.farheap.kv.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.Effort;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * A model of the leased engine's protocol: a server's thread that sets one key, value after value, or deletes it, and
 * clients that get it by READs and calls. Blocks are used again, also for an object of another key, and the thread may
 * die during a set, whereupon another one puts the shard in order. All interleavings of the server's stores,
 * of the words of READs in any order, and of the ends of leases are explored. Changes are numbered, and a value is the
 * number of its set; so the history is linearizable if no get returns less than what was stored, or found, before it
 * began, nor more than what is being stored. An absent key counts as the last change.
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

    /** The value of another key's objects. */
    private static final int OTHER = 9;

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
        /** The block of another key's object. */
        int other = NO_BLOCK;

        int others;
        int deaths;
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
            copy.other = other;
            copy.others = others;
            copy.deaths = deaths;
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

        /** All of it, a character a number. */
        String key() {
            StringBuilder key = new StringBuilder();
            add(key, table, other, others, deaths, lastIncarnation, step, target, old, stored, answered);
            add(key, incarnation);
            add(key, state);
            add(key, first);
            add(key, second);
            add(key, serverLeases);
            add(key, clientStep);
            add(key, gets);
            add(key, least);
            add(key, found);
            add(key, pointer);
            add(key, pointerIncarnation);
            add(key, lease);
            add(key, words);
            add(key, copyMark);
            add(key, copyFirst);
            add(key, copySecond);
            return key.toString();
        }

        private static void add(StringBuilder key, int... numbers) {
            for (int number : numbers) {
                key.append((char) number);
            }
        }
    }

    private final Set<String> met = new HashSet<>();
    private final Deque<State> next = new ArrayDeque<>();
    private Set<Rule> rules = Set.of();
    private String wrong = "";
    /** How many sets and deletes there are, and gets of each client; sets of another key; and deaths of the thread. */
    private int changes;

    private int gets;
    private int others;
    private int deaths;
    private boolean deletes;

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

    /** The next store of the server's thread. A get by a call comes between two changes. */
    private void serve(State state) {
        if (state.step == IDLE) {
            beginChange(state);
            return;
        }
        if (state.deaths < deaths && state.step != LATE_MARK) {
            State after = state.copy();
            after.deaths++;
            putInOrder(after);
            push(after);
        }
        State after = state.copy();
        boolean ofOther = state.other == state.target && state.target != NO_BLOCK;
        switch (state.step) {
            case BIRTH -> {
                after.lastIncarnation++;
                after.incarnation[state.target] = after.lastIncarnation;
                after.state[state.target] = UNBORN;
                after.step = FIRST_WORD;
            }
            case FIRST_WORD -> {
                after.first[state.target] = body(state, ofOther);
                after.step = SECOND_WORD;
            }
            case SECOND_WORD -> {
                after.second[state.target] = body(state, ofOther);
                after.step = ofOther || !rules.contains(Rule.MARK_BEFORE_ANSWER) ? SAY_LIVE : MARK;
            }
            case MARK -> {
                if (state.old != NO_BLOCK) {
                    after.state[state.old] = DEAD;
                }
                after.step = SAY_LIVE;
            }
            case SAY_LIVE -> {
                if (state.target != NO_BLOCK) {
                    after.state[state.target] = LIVE;
                }
                after.table = ofOther ? state.table : state.target;
                after.step = ofOther ? IDLE : ANSWER;
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

    private void beginChange(State state) {
        if (state.other != NO_BLOCK) {
            State after = state.copy();
            after.state[state.other] = DEAD;
            after.other = NO_BLOCK;
            push(after);
        }
        if (state.stored < changes && deletes && state.table != NO_BLOCK) {
            State after = state.copy();
            after.stored++;
            after.old = state.table;
            after.target = NO_BLOCK;
            after.step = rules.contains(Rule.MARK_BEFORE_ANSWER) ? MARK : SAY_LIVE;
            push(after);
        }
        for (int free = 0; free < BLOCKS; free++) {
            boolean leased = state.serverLeases[free] != 0;
            boolean sameAsFirst = free > 0 && state.lastIncarnation == 0;
            if (free == state.table || free == state.other || leased || sameAsFirst) {
                continue;
            }
            if (state.stored < changes) {
                State after = state.copy();
                after.stored++;
                after.old = state.table;
                after.target = free;
                after.step = BIRTH;
                push(after);
            }
            if (state.others < others && state.other == NO_BLOCK) {
                State after = state.copy();
                after.others++;
                after.other = free;
                after.target = free;
                after.step = BIRTH;
                push(after);
            }
        }
    }

    /** The thread has died: a block that was not said to be live is free, and a key whose block is marked is absent. */
    private static void putInOrder(State after) {
        if (after.table != NO_BLOCK && after.state[after.table] != LIVE) {
            after.table = NO_BLOCK;
        }
        if (after.other != NO_BLOCK && after.state[after.other] != LIVE) {
            after.other = NO_BLOCK;
        }
        after.step = IDLE;
    }

    private static int body(State state, boolean ofOther) {
        return state.lastIncarnation * 10 + (ofOther ? OTHER : state.stored);
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

    /** A call is carried out, and answered, between two changes. */
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
        int value = block == NO_BLOCK ? state.stored : state.first[block] % 10;
        if (block != NO_BLOCK) {
            after.pointer[client] = block;
            after.pointerIncarnation[client] = state.incarnation[block];
            after.lease[client] = 1;
            if (rules.contains(Rule.DELAYED_RECLAMATION)) {
                after.serverLeases[block] |= 1 << client;
            }
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

    /** What is explored, from here on. */
    private void bounds(int mostChanges, int getsOfEach, int mostOthers, int mostDeaths, boolean withDeletes) {
        changes = mostChanges;
        gets = getsOfEach;
        others = mostOthers;
        deaths = mostDeaths;
        deletes = withDeletes;
    }

    private void nothingIsWrong(Set<Rule> with) {
        bounds(Effort.either(2, 3), Effort.either(2, 3), 1, 1, true);
        assertEquals("", explore(1, with));
        bounds(2, 2, 0, 1, true);
        assertEquals("", explore(2, with));
        // Three sets, since of the first two each has a block that was not used before.
        bounds(3, 2, 0, 0, false);
        assertEquals("", explore(2, with));
        assertTrue(met.size() > 10_000, met.size() + " states");
    }

    @Test
    void withAllRulesNothingIsWrong() {
        nothingIsWrong(without());
    }

    /** Leases buy speed, not truth. */
    @Test
    void withChecksNothingIsWrongWhateverClocksAndLeasesDo() {
        nothingIsWrong(without(Rule.CLOCKS, Rule.DELAYED_RECLAMATION));
        nothingIsWrong(without(Rule.CLOCKS, Rule.DELAYED_RECLAMATION, Rule.LEASE_AT_COMPLETION));
    }

    @Test
    void withLeasesNothingIsWrongWithoutChecks() {
        nothingIsWrong(without(Rule.CHECKS));
    }

    /** Each is found missing with one client and with two, and with deletes, a death and another key between. */
    @Test
    void eachRuleThatTheOthersRestOnIsNeeded() {
        bounds(3, 2, 0, 0, false);
        eachIsNeeded(1);
        eachIsNeeded(2);
        bounds(3, 2, 1, 1, true);
        eachIsNeeded(1);
    }

    private void eachIsNeeded(int clients) {
        assertFalse(explore(clients, without(Rule.MARK_BEFORE_ANSWER)).isEmpty());
        assertFalse(explore(clients, without(Rule.CHECKS, Rule.CLOCKS)).isEmpty());
        assertFalse(
                explore(clients, without(Rule.CHECKS, Rule.DELAYED_RECLAMATION)).isEmpty());
        assertFalse(
                explore(clients, without(Rule.CHECKS, Rule.LEASE_AT_COMPLETION)).isEmpty());
    }
}
