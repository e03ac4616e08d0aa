package io.farheap.cli;

import io.farheap.kv.FarMap;
import io.farheap.kv.MapSession;
import io.farheap.kv.contract.MapException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Sessions of a map in a process of their own, each on a thread, that set, get and delete as fast as they can, until
 * the process is killed or its standard input ends. It prints a line when all have begun. A value contains its key: if
 * one does not, the process ends.
 */
final class MapLoad {

    static final int KEYS = 3000;
    private static final int EXIT_WRONG = 3;

    private MapLoad() {}

    /** @param arguments name, token, sessions, and the servers' addresses */
    public static void main(String[] arguments) throws IOException {
        FarMap map = OpenedMap.of(arguments, 3);
        List<MapSession> sessions = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(arguments[2]); i++) {
            sessions.add(map.openSession());
        }
        for (MapSession session : sessions) {
            Thread.ofPlatform().daemon().start(() -> load(session, new SplittableRandom(System.nanoTime())));
        }
        while (System.in.read() >= 0) {
            // Reads until the parent process closes the pipe.
        }
        System.exit(0);
    }

    private static void load(MapSession session, SplittableRandom random) {
        try {
            for (int requests = 0; ; requests++) {
                request(session, random);
                if (requests == 1000) {
                    System.out.println("listening on 127.0.0.1:1");
                }
            }
        } catch (MapException e) {
            // The lease has ended, as the test that stopped the process expects.
            System.exit(0);
        } catch (Throwable e) {
            e.printStackTrace();
            System.exit(EXIT_WRONG);
        }
    }

    /** A set or a get of an object of at most 600 bytes, as most objects are. */
    static void small(MapSession session, SplittableRandom random) {
        int number = random.nextInt(KEYS);
        if (random.nextBoolean()) {
            byte[] value = new byte[1 + random.nextInt(600)];
            Arrays.fill(value, (byte) number);
            session.set(key(number), value);
        } else {
            session.get(key(number));
        }
    }

    private static byte[] key(int number) {
        return ("key " + number).getBytes(StandardCharsets.UTF_8);
    }

    /** A request of any kind. It may find no room, because the map is small and the sizes are many. */
    static void request(MapSession session, SplittableRandom random) {
        try {
            requestOrThrow(session, random);
        } catch (MapException e) {
            if (!String.valueOf(e.getMessage()).startsWith("there is no room")) {
                throw e;
            }
        }
    }

    private static void requestOrThrow(MapSession session, SplittableRandom random) {
        int number = random.nextInt(KEYS);
        byte[] key = key(number);
        int kind = random.nextInt(11);
        if (kind < 5) {
            // Some values are so large that the map stores them in pieces.
            byte[] value = new byte[1 + random.nextInt(random.nextInt(100) == 0 ? 60_000 : 600)];
            Arrays.fill(value, (byte) number);
            session.set(key, value);
        } else if (kind < 9) {
            byte[] found = session.get(key);
            if (found != null && (found[0] != (byte) number || found[found.length - 1] != (byte) number)) {
                throw new IllegalStateException("the value of another key than " + number);
            }
        } else if (kind == 9) {
            session.delete(key);
        } else {
            session.touch(key, 0);
        }
    }
}
