package io.farheap.kv.leased.client;

import io.farheap.control.ControlException;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.format.BlockAudit;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.TextWords;
import io.farheap.kv.keeper.MapServiceClient;
import io.farheap.kv.leased.format.LeasedDescriptor;
import io.farheap.kv.leased.format.ShardCalls;
import io.farheap.kv.leased.format.ShardDirectory;
import io.farheap.lifetime.Closeables;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteSpace;
import io.farheap.thread.Uninterruptibles;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * Calls of a process to the servers of a leased map about the servers that have its shards. One thread at a time; its
 * owner closes it.
 */
public final class ShardLines implements AutoCloseable {

    private static final long RELEASE_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    private final RemoteMemory remote;
    private final SortedMap<Integer, MapServiceClient> lines = new TreeMap<>();

    /** A server is sealed by another process, or has been taken into another edition by it. */
    static final class BusyException extends Exception {

        private static final long serialVersionUID = 1;
    }

    public ShardLines(RemoteMemory remote) {
        this.remote = remote;
    }

    /**
     * The calls to a server, which are opened if this is the first time.
     *
     * @param number of the server
     * @throws MapException if the server serves no calls
     */
    MapServiceClient to(RemoteSpace space, int number) {
        MapServiceClient line = lines.get(number);
        if (line != null && line.space != space) {
            leave(number);
            line = null;
        }
        if (line == null) {
            try {
                line = new MapServiceClient(remote, space, number);
            } catch (ControlException e) {
                throw new MapException(
                        "a server serves no calls, which a leased map needs for all that it does: " + e.getMessage());
            }
            lines.put(number, line);
        }
        return line;
    }

    /** Why a server has not done what it was asked. */
    static MapException unanswered(RemoteSpace space) {
        return new MapException(space.server() + " has no service for leased maps that answers; run the same "
                + "release there, with server threads");
    }

    /** Asks a server for the edition that it is in. */
    ShardEditions.Said ask(RemoteSpace space, int number, LeasedDescriptor map) {
        MapServiceClient line = to(space, number);
        if (!line.callFirst(ShardCalls.EDITION, 1)) {
            throw unanswered(space);
        }
        ShardDirectory directory = ShardDirectory.of(map);
        long changes = Math.clamp(line.reply(3), 0L, ShardDirectory.MOST_CHANGES);
        for (int i = 0; i < changes; i++) {
            directory = directory.with(ShardDirectory.Change.of(line.reply(ShardCalls.EDITION_WORDS + i)));
        }
        return new ShardEditions.Said(line.reply(1), line.reply(2), directory, line.reply(4) != 0);
    }

    /**
     * Whether a server knows that it has left the map, and so do all processes that had the map open there: none asks
     * it any more.
     */
    public boolean isUnused(RemoteSpace space, int number, LeasedDescriptor map) {
        try {
            if (ask(space, number, map).directory().isPresent(number)) {
                return false;
            }
            MapServiceClient line = to(space, number);
            return line.callFirst(ShardCalls.PROCESSES, 1) && line.reply(1) == 0;
        } catch (MapException e) {
            return false;
        }
    }

    /** The address of a server that has joined, as another one knows it; empty if it does not. */
    String address(RemoteSpace space, int asked, int number) {
        MapServiceClient line = to(space, asked);
        if (!line.with(1, number).callFirst(ShardCalls.ADDRESS, 2)) {
            throw unanswered(space);
        }
        int bytes = Math.clamp(line.reply(1), 0, MapCalls.MOST_ADDRESS_BYTES);
        long[] words = new long[Math.ceilDiv(bytes, Long.BYTES)];
        for (int i = 0; i < words.length; i++) {
            words[i] = line.reply(2 + i);
        }
        return new String(TextWords.bytes(words, 0, bytes), StandardCharsets.UTF_8);
    }

    /**
     * Seals a server's edition.
     *
     * @param lost the servers that do not answer, with those that have left
     * @param now whether they need not have been lost for the map's time
     * @param leaving the servers that answer, and leave
     * @param id of the edition that the server was in when it was asked
     * @return whether a process that has the map open says that the servers are lost
     */
    static boolean seal(MapServiceClient line, long lost, boolean now, long leaving, long id, LeasedDescriptor map)
            throws BusyException {
        line.with(1, lost).with(2, now ? 1 : 0).with(3, leaving).with(4, id);
        if (!line.callFirst(ShardCalls.SEAL, 5)) {
            if (line.answered() && line.reply(0) == MapCalls.BUSY) {
                throw new BusyException();
            }
            if (line.answered() && line.reply(0) == MapCalls.IN_USE) {
                throw new MapException("a server of the map does not answer, and is replaced when no process that has"
                        + " the map open has reached it for " + map.replaceMillis() + " ms, by what these say to "
                        + line.space.server());
            }
            throw notDone(line);
        }
        return line.reply(1) != 0;
    }

    static void unseal(List<MapServiceClient> servers) {
        servers.forEach(line -> line.call(ShardCalls.UNSEAL, 1));
    }

    private static MapException notDone(MapServiceClient line) {
        return new MapException(line.space.server() + " does not change the servers of the map: "
                + (line.answered() ? "it says " + line.reply(0) : "it does not answer") + "; try again");
    }

    /**
     * Has sealed servers take the next edition: none has a range of hashes before all others have lost it.
     *
     * @throws BusyException if the seal of one has ended before any has taken it
     */
    static void install(List<MapServiceClient> servers, long number, long id, ShardDirectory next)
            throws BusyException {
        long deadline = System.nanoTime() + RELEASE_NANOS;
        // All are asked again until all have done it: a seal ends without a step in time.
        for (boolean settled = false; !settled; ) {
            settled = true;
            for (MapServiceClient line : servers) {
                boolean done = tell(line, ShardCalls.RELEASE, number, id, next);
                boolean waits = !done && line.answered() && line.reply(0) == ShardCalls.NOT_YET;
                if (!done && line.answered() && line.reply(0) == MapCalls.STALE) {
                    throw new BusyException();
                }
                if (!done && (!waits || System.nanoTime() - deadline > 0)) {
                    throw notDone(line);
                }
                settled &= done;
            }
            if (!settled) {
                Uninterruptibles.parkNanos(servers, LOOK_NANOS);
            }
        }
        for (MapServiceClient line : servers) {
            if (!tell(line, ShardCalls.INSTALL, number, id, next)) {
                throw notDone(line);
            }
        }
    }

    private static boolean tell(MapServiceClient line, int operation, long number, long id, ShardDirectory next) {
        List<ShardDirectory.Change> changes = next.changes();
        line.with(1, number).with(2, id).with(3, changes.size()).with(4, 0);
        for (int i = 0; i < changes.size(); i++) {
            line.with(ShardCalls.EDITION_WORDS + i, changes.get(i).word());
        }
        return line.callFirst(operation, ShardCalls.EDITION_WORDS + changes.size());
    }

    /** Has a sealed server know the address of one that joins. */
    static void name(MapServiceClient line, int number, String address) {
        byte[] text = address.getBytes(StandardCharsets.UTF_8);
        long[] words = new long[Math.ceilDiv(text.length, Long.BYTES)];
        TextWords.words(text, words, 0);
        line.with(1, number).with(2, text.length);
        for (int i = 0; i < words.length; i++) {
            line.with(3 + i, words[i]);
        }
        if (!line.callFirst(ShardCalls.NAME, 3 + words.length)) {
            throw notDone(line);
        }
    }

    /** Has a server account for its blocks. */
    private static BlockAudit audit(MapServiceClient line) {
        long deadline = System.nanoTime() + RELEASE_NANOS;
        boolean answers = line.with(1, 0).callFirst(ShardCalls.AUDIT, 2);
        long number = answers ? line.reply(1) : 0;
        while (answers && line.with(1, number).callFirst(ShardCalls.AUDIT, 2)) {
            if (line.reply(1) != 0) {
                long[] words = new long[BlockAudit.WORDS];
                for (int i = 0; i < words.length; i++) {
                    words[i] = line.reply(2 + i);
                }
                return BlockAudit.of(words, 0);
            }
            if (System.nanoTime() - deadline > 0) {
                throw new MapException(line.space.server() + " does not account for its blocks: try again");
            }
            Uninterruptibles.parkNanos(line, LOOK_NANOS);
        }
        throw unanswered(line.space);
    }

    /**
     * Has all servers account for their blocks.
     *
     * @param spaces of the servers, by their numbers
     * @throws MapException if one does not answer
     */
    static BlockAudit audit(RemoteMemory remote, SortedMap<Integer, RemoteSpace> spaces) {
        try (ShardLines lines = new ShardLines(remote)) {
            BlockAudit sum = BlockAudit.NONE;
            for (Map.Entry<Integer, RemoteSpace> each : spaces.entrySet()) {
                sum = sum.plus(audit(lines.to(each.getValue(), each.getKey())));
            }
            return sum;
        }
    }

    /** A server has left the map. */
    public void leave(int number) {
        MapServiceClient line = lines.remove(number);
        if (line != null) {
            line.close();
        }
    }

    /** Idempotent. */
    @Override
    public void close() {
        List<MapServiceClient> all = List.copyOf(lines.values());
        lines.clear();
        Closeables.all(all);
    }
}
