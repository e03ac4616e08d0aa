package io.farheap.cli;

import io.farheap.kv.FarMap;
import io.farheap.kv.MapSession;
import io.farheap.kv.contract.MapException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * One writer of a leased map, and reader of all its keys, in a process of its own or on a thread. Each key has one
 * writer, whose values have a number that grows, so that a reader sees it if a value is an older one than before.
 */
final class LeasedLoad {

    static final int KEYS_OF_EACH = 20;
    static final int WRITERS = 32;
    private static final int EXIT_WRONG = 3;
    private static final int HEAD_BYTES = 8;

    private final MapSession session;
    private final int writer;
    private final SplittableRandom random;
    /** By key: the number of the latest value that was seen. */
    private final int[] seen = new int[WRITERS * KEYS_OF_EACH];
    /** By own key: whether it may be absent. */
    private final boolean[] absent = new boolean[KEYS_OF_EACH];

    private int number;
    private long done;
    private volatile boolean ends;

    /** @param writer a number of its own, 0 to {@link #WRITERS} - 1 */
    LeasedLoad(MapSession session, int writer, SplittableRandom random) {
        this.session = session;
        this.writer = writer;
        this.random = random;
        Arrays.fill(absent, true);
    }

    /** @param arguments name, token, the writer's number, and the servers' addresses */
    public static void main(String[] arguments) throws Exception {
        FarMap map = OpenedMap.of(arguments, 3);
        LeasedLoad load = new LeasedLoad(
                map.openSession(), Integer.parseInt(arguments[2]), new SplittableRandom(System.nanoTime()));
        Thread thread = Thread.ofPlatform().daemon().start(() -> {
            try {
                load.run(() -> System.out.println("listening on 127.0.0.1:1"));
            } catch (Throwable e) {
                e.printStackTrace();
                System.exit(EXIT_WRONG);
            }
        });
        while (System.in.read() >= 0) {
            // Reads until the parent process closes the pipe.
        }
        load.end();
        thread.join();
        System.exit(0);
    }

    void end() {
        ends = true;
    }

    /** Makes requests until {@link #end}. @param begun called after the first thousand */
    void run(Runnable begun) {
        while (!ends) {
            try {
                request();
            } catch (MapException e) {
                // A server is stopped, or this process has lost its lease.
                LockSupport.parkNanos(100_000);
            }
            if (++done == 1000) {
                begun.run();
            }
        }
    }

    long done() {
        return done;
    }

    static byte[] key(int key) {
        return ByteBuffer.allocate(4).putInt(key).array();
    }

    private void request() {
        int own = random.nextInt(KEYS_OF_EACH);
        int key = writer * KEYS_OF_EACH + own;
        int kind = random.nextInt(20);
        if (kind == 0) {
            absent[own] = true;
            session.delete(key(key));
        } else if (kind < 5) {
            int size = random.nextInt(40);
            // The longest are in pieces, which are written into an area of this process's.
            byte[] value = new byte[HEAD_BYTES + random.nextInt(size == 0 ? 60_000 : size < 3 ? 6000 : 500)];
            Arrays.fill(value, (byte) ++number);
            ByteBuffer.wrap(value).putInt(key).putInt(number);
            boolean before = absent[own];
            absent[own] = true;
            session.set(key(key), value);
            absent[own] = false;
            if (!before && number < seen[key]) {
                throw new IllegalStateException("its own numbers go back");
            }
            seen[key] = number;
        } else {
            check(random.nextInt(3) == 0 ? key : random.nextInt(seen.length));
        }
    }

    private void check(int key) {
        byte[] found = session.get(key(key));
        if (found == null) {
            if (key / KEYS_OF_EACH == writer && !absent[key % KEYS_OF_EACH]) {
                throw new IllegalStateException("key " + key + " was set, and is absent");
            }
            return;
        }
        ByteBuffer value = ByteBuffer.wrap(found);
        int of = value.getInt();
        int version = value.getInt();
        if (of != key || version < seen[key]) {
            throw new IllegalStateException(
                    "key " + key + " has value " + version + " of key " + of + "; it had " + seen[key] + " before");
        }
        for (int i = HEAD_BYTES; i < found.length; i++) {
            if (found[i] != (byte) version) {
                throw new IllegalStateException("key " + key + " has parts of two values");
            }
        }
        seen[key] = version;
    }
}
