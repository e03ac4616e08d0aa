package io.farheap.cli;

import io.farheap.kv.FarMap;
import io.farheap.kv.MapSession;
import io.farheap.kv.contract.MapException;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * A process that fills a map with small objects, then with large ones, again and again, until it is killed. So segments
 * are emptied all the time, also by this process. It prints a line when it has begun.
 */
final class MapSizes {

    private static final int SETS = 1500;
    private static final int SMALL = 100;
    private static final int LARGE = 5000;

    private MapSizes() {}

    /** @param arguments name, token, and the servers' addresses */
    public static void main(String[] arguments) {
        FarMap map = OpenedMap.of(arguments, 2);
        SplittableRandom random = new SplittableRandom(System.nanoTime());
        MapSession session = map.openSession();
        System.out.println("listening on 127.0.0.1:1");
        while (true) {
            fill(session, random, SMALL);
            fill(session, random, LARGE);
        }
    }

    /** Sets objects that have their key in each byte. */
    static void fill(MapSession session, SplittableRandom random, int bytes) {
        for (int i = 0; i < SETS; i++) {
            byte[] key = {(byte) random.nextInt(), (byte) random.nextInt()};
            byte[] value = new byte[bytes];
            Arrays.fill(value, (byte) (key[0] ^ key[1]));
            try {
                session.set(key, value);
            } catch (MapException e) {
                if (!String.valueOf(e.getMessage()).startsWith("there is no room")) {
                    throw e;
                }
            }
        }
    }
}
