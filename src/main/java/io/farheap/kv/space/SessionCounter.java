package io.farheap.kv.space;

import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.format.MapDescriptor;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Gets numbers of sessions from a map's first server, and has the other servers that have the table know of them, in
 * case the first is lost. It asks all of these at the same time, and one that hangs delays no session. One thread.
 */
public final class SessionCounter {

    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long SLEEP_NANOS = 1_000_000;

    // What is to be done about a server's word.
    private static final byte NOTHING = 0;
    private static final byte POST = 1;
    private static final byte RECONNECT = 2;
    private static final byte AWAIT = 3;
    private static final byte FAILED = 4;

    private final CounterWords words;
    private final byte[] states;
    private final boolean[] failedOnce;
    /** By server, the word that is expected there. */
    private final long[] expected;

    private long number;
    private int told;

    SessionCounter(CounterWords words) {
        this.words = words;
        states = new byte[words.servers()];
        failedOnce = new boolean[words.servers()];
        expected = new long[words.servers()];
    }

    /**
     * A number that no other session of the map has. If a server hangs, this waits for it only if it is the first one,
     * or the others are too few.
     *
     * @throws MapException if the first server is lost, or another process may be using the map without it, and give
     *     the number again
     */
    public static long next(RemoteMemory memory, SpaceMemory space) {
        try (SessionWords words = new SessionWords(memory, space)) {
            SessionCounter counter = new SessionCounter(words);
            long number = counter.add();
            int of = space.layout().madeOn() - Long.bitCount(space.layout().retired());
            if (space.replaces() && of >= MapDescriptor.LEAST_REPLACING && (!counter.tell(of) || !words.holdsFirst())) {
                throw MapException.of(KvStatus.LOST);
            }
            return number;
        }
    }

    /** Gets the number. */
    long add() {
        int first = words.first();
        states[first] = POST;
        run(() -> states[first] == NOTHING || states[first] == FAILED);
        if (states[first] != NOTHING) {
            throw MapException.of(KvStatus.LOST);
        }
        number = words.old(first) + 1;
        return number;
    }

    /**
     * Has others know the number.
     *
     * @param of how many servers have the table
     * @return whether no so many that could replace the first are left without it: each majority has one that knows it
     */
    boolean tell(int of) {
        Arrays.fill(failedOnce, false);
        Arrays.fill(expected, number - 1);
        for (int server = 0; server < states.length; server++) {
            states[server] = server != words.first() && words.reaches(server) ? POST : NOTHING;
        }
        BooleanSupplier enough = () -> 2 * (1 + told) >= of;
        run(() -> enough.getAsBoolean() || !anyUnderWay());
        return enough.getAsBoolean();
    }

    private boolean anyUnderWay() {
        for (byte state : states) {
            if (state != NOTHING && state != FAILED) {
                return true;
            }
        }
        return false;
    }

    private void run(BooleanSupplier until) {
        long started = System.nanoTime();
        goOn();
        while (!until.getAsBoolean() && System.nanoTime() - started < PATIENCE_NANOS) {
            if (words.poll(this::ended) == 0) {
                words.await(SLEEP_NANOS);
            }
            goOn();
        }
    }

    private void goOn() {
        for (int server = 0; server < states.length; server++) {
            if (states[server] == RECONNECT) {
                states[server] = AWAIT;
                words.reconnect(server);
            }
            while (states[server] == POST) {
                post(server);
            }
        }
    }

    private void post(int server) {
        states[server] = AWAIT;
        int posting = server == words.first() ? words.add() : words.swap(server, expected[server], number);
        if (posting == PostResult.DONE) {
            ended(server, Outcome.DONE);
        } else if (posting != PostResult.OK) {
            fails(server);
        }
    }

    private void ended(long tag, int outcome) {
        int server = (int) (tag & (CounterWords.RECONNECTS - 1));
        boolean done = outcome == Outcome.DONE;
        if (tag >= CounterWords.RECONNECTS) {
            states[server] = done ? POST : FAILED;
        } else if (!done) {
            fails(server);
        } else if (server == words.first()) {
            states[server] = NOTHING;
        } else {
            long old = words.old(server);
            boolean knows = old >= number || old == expected[server];
            expected[server] = old;
            told += knows ? 1 : 0;
            states[server] = knows ? NOTHING : POST;
        }
    }

    /** A connection that has failed once is made again. */
    private void fails(int server) {
        states[server] = failedOnce[server] || !words.reaches(server) ? FAILED : RECONNECT;
        failedOnce[server] = true;
    }
}
