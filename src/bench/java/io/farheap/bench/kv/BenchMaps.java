package io.farheap.bench.kv;

import io.farheap.command.ServerProcess;
import io.farheap.control.ControlException;
import io.farheap.kv.FarMap;
import io.farheap.kv.FarMapBuilder;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.replacement.Replacements;
import io.farheap.measure.LateOperations;
import io.farheap.verbs.Devices;

/** Creates maps for parts of the benchmark, on servers of their own. */
final class BenchMaps {

    static final String TOKEN = "of a benchmark";
    /** With a key of 8 bytes, pairs of 256 bytes, in blocks of 320 with their headers. */
    static final int VALUE_BYTES = 248;

    static final int BLOCK_BYTES = 320;
    private static final long REGION_FLOOR = 64 << 10;
    /** Bytes of a small object: of the table, in which a bucket has 16 slots for 8 objects, and of its block. */
    private static final long BYTES_AN_OBJECT = 80 + 64;

    private static final int MOST_TRIES = 3;
    private static final long SLACK_BYTES = 256 << 10;

    private BenchMaps() {}

    /**
     * Starts a server for maps. Its leases are long, so that on a busy machine a client that gets no processor for some
     * seconds does not lose its lease. With a NIC model it continues although operations are late: rows say how many.
     */
    static ServerProcess server(long memoryBytes, long regionBytes) {
        return ServerProcess.start(
                Devices.library(), "", memoryBytes, regionBytes, LateOperations.environment(), "--lease", "30s");
    }

    /**
     * Returns the bytes of a map with room for four times this number of objects of 256 bytes: those at the beginning,
     * and three times as many that are inserted.
     */
    static long room(long objects) {
        return powerOfTwo(4 * objects * (BLOCK_BYTES + 2 * 80) + (4 << 20));
    }

    static FarMap create(ServerProcess server, String name, long bytes, long objects) {
        return create(server, name, bytes, objects, Replacements.ADAPTIVE);
    }

    static FarMap create(ServerProcess server, String name, long bytes, long objects, String policy) {
        return create(of(server, name).memory(bytes).objects(objects).policy(policy));
    }

    /** The same for a process that keeps no pointers to objects. */
    static FarMap createWithoutPointers(ServerProcess server, String name, long bytes, long objects) {
        return create(of(server, name).memory(bytes).objects(objects).pointers(0));
    }

    /** Sets each of the first keys. */
    static void fill(FarMap map, long keys) {
        fill(map, keys, VALUE_BYTES);
    }

    static void fill(FarMap map, long keys, int valueBytes) {
        try (MapCaller caller = new MapCaller(map.openSession(), valueBytes)) {
            for (long key = 0; key < keys; key++) {
                caller.set(key);
            }
        }
    }

    /** Opens the same map once more, as another process would. */
    static FarMap open(ServerProcess server, String name) {
        return of(server, name).open();
    }

    /** The same, with pointers to so many objects. */
    static FarMap open(ServerProcess server, String name, long pointers) {
        return of(server, name).pointers(pointers).open();
    }

    /** Returns the bytes of a map that holds this number of objects of one block of 64 bytes. */
    static long bytesOfSmall(long objects) {
        return Math.max(REGION_FLOOR, powerOfTwo(objects * BYTES_AN_OBJECT + SLACK_BYTES));
    }

    /**
     * Creates a map that holds exactly this number of objects of one block of 64 bytes.
     *
     * @param sessions of the map, each of which holds a free block
     */
    static FarMap createSmall(ServerProcess server, String name, long objects, int sessions, String policy) {
        return create(of(server, name)
                .memory(bytesOfSmall(objects))
                .objects(objects)
                .smallObjects(objects + sessions)
                .policy(policy));
    }

    private static FarMapBuilder of(ServerProcess server, String name) {
        return FarMap.builder().name(name).token(TOKEN).servers(server.address());
    }

    /** Tries again, so that a run of many maps does not end if a server on a busy machine answers late once. */
    private static FarMap create(FarMapBuilder map) {
        for (int tries = 1; ; tries++) {
            try {
                return map.create();
            } catch (MapException | ControlException e) {
                if (tries == MOST_TRIES) {
                    throw e;
                }
            }
        }
    }

    static long powerOfTwo(long bytes) {
        return Long.highestOneBit(bytes - 1) << 1;
    }
}
