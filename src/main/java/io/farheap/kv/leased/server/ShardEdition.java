package io.farheap.kv.leased.server;

import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.MapDescriptor;
import io.farheap.kv.leased.format.LeasedDescriptor;
import io.farheap.kv.leased.format.ShardCalls;
import io.farheap.kv.leased.format.ShardDirectory;
import io.farheap.rpc.Reply;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.agrona.collections.Long2ObjectHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The edition of a leased map that one of its servers is in: which servers have its shards, and which shard has which
 * keys. The next edition is installed by a process that has sealed this one, which it can when all processes that are
 * registered have lost the servers that do not answer it. Thread-safe; each call is short.
 */
final class ShardEdition {

    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final long ALL = -1;
    /** A seal ends when the process that has it has made no step for so long. */
    static final long SEAL_NANOS = 6_000_000_000L;
    /** How much higher than the number of an edition that of the next one may be. */
    static final long MOST_STEP = 1 << 20;

    private static final byte[] NO_ADDRESS = {};

    /** A process that has the map open. */
    private static final class Member {

        /** The servers that had left when it opened the map: it does not know how to reach them. */
        private final long retired;
        /** The edition that it knows. */
        private final long edition;
        /** The servers that it has lost since. */
        private long lost;

        Member(long retired, long edition) {
            this.retired = retired;
            this.edition = edition;
        }
    }

    private final LeasedDescriptor map;
    private final LongSupplier nanoTime;
    private final Long2ObjectHashMap<Member> members = new Long2ObjectHashMap<>();
    private volatile ShardDirectory directory;
    private long number;
    private long id;
    /** The lease of the process that has sealed this edition; 0: none has. */
    private long sealer;
    /** When that process made its last step. */
    private long sealedAt;
    /** The servers that are lost for the process that has sealed it, and those that have left. */
    private long sealed;
    /** The servers that all processes have lost, and by server since when. */
    private long lostByAll = ALL;

    private final long[] lostSince = new long[Long.SIZE];
    private final ServedRanges ranges;
    /** The changes for whose edition the shards have lost ranges. */
    private @Nullable List<ShardDirectory.Change> released;
    /** The addresses of servers that have joined, by their numbers. */
    private final Map<Integer, byte[]> addresses = new HashMap<>();

    /** @param shards that this server has */
    ShardEdition(LeasedDescriptor map, int shards, LongSupplier nanoTime) {
        this.map = map;
        this.nanoTime = nanoTime;
        directory = ShardDirectory.of(map);
        ranges = new ServedRanges(map.server(), shards, directory);
        Arrays.fill(lostSince, nanoTime.getAsLong());
    }

    /** Which ranges the shards of this server have now. Any thread. */
    ServedRanges ranges() {
        return ranges;
    }

    /** Which shard has which keys. Any thread. */
    ShardDirectory directory() {
        return directory;
    }

    /**
     * The edition in which processes may use the map; another number if the process has ended that was about to change
     * it, or makes no step, and had the shards lose ranges: then some keys are nowhere, until another process installs
     * the next.
     */
    synchronized long usedId() {
        return isReleased() && !isSealed() ? ~id : id;
    }

    /** A process whose call has no answer may live on without a step more, and without a word that it gives up. */
    private boolean isSealed() {
        return sealer != 0 && nanoTime.getAsLong() - sealedAt < SEAL_NANOS;
    }

    private boolean isSealedBy(long lease) {
        return sealer == lease && isSealed();
    }

    synchronized long number() {
        return number;
    }

    synchronized long id() {
        return id;
    }

    /** Whether the shards have lost ranges for another edition, which was not installed yet. */
    synchronized boolean isReleased() {
        return released != null;
    }

    /** How many processes have not said that they know this edition. */
    synchronized long ofOlderEditions() {
        long count = 0;
        for (Member each : members.values()) {
            count += each.edition == id ? 0 : 1;
        }
        return count;
    }

    /** The directory with which the map was made. */
    ShardDirectory made() {
        return ShardDirectory.of(map);
    }

    /** Writes the reply to {@link ShardCalls#EDITION}. @return its words */
    synchronized int say(Reply out) {
        List<ShardDirectory.Change> changes = directory.changes();
        out.setLong(0, MapCalls.OK);
        out.setLong(Long.BYTES, number);
        out.setLong(2 * Long.BYTES, id);
        out.setLong(3 * Long.BYTES, changes.size());
        out.setLong(4 * Long.BYTES, isReleased() ? 1 : 0);
        for (int i = 0; i < changes.size(); i++) {
            out.setLong(
                    (ShardCalls.EDITION_WORDS + i) * Long.BYTES, changes.get(i).word());
        }
        return ShardCalls.EDITION_WORDS + changes.size();
    }

    /**
     * A process opens the map, or uses it in another edition from now on, and has lost no server of that one.
     *
     * @return a status of {@link MapCalls}
     */
    synchronized long register(long lease, long editionId) {
        if (isSealed()) {
            return MapCalls.BUSY;
        }
        if (editionId != id) {
            return MapCalls.STALE;
        }
        members.put(lease, new Member(directory.retired(), id));
        note();
        return MapCalls.OK;
    }

    /** A process lives, and says which servers it has lost. @return a status of {@link MapCalls} */
    synchronized long beat(long lease, long lost) {
        Member member = members.get(lease);
        if (member == null) {
            return MapCalls.NOT_REGISTERED;
        }
        if (member.lost != lost) {
            member.lost = lost;
            note();
        }
        return MapCalls.OK;
    }

    /** A process has ended, or has the map open no more. */
    synchronized void ended(long lease) {
        if (members.remove(lease) != null) {
            note();
        }
        unseal(lease);
    }

    private void note() {
        long all = ALL;
        for (Member each : members.values()) {
            all &= each.lost | each.retired;
        }
        long more = all & ~lostByAll;
        lostByAll = all;
        for (long left = more; left != 0; left &= left - 1) {
            lostSince[Long.numberOfTrailingZeros(left)] = nanoTime.getAsLong();
        }
    }

    /** Whether all processes have lost these servers, for so long. */
    private boolean haveLost(long servers, long nanos) {
        if ((servers & ~lostByAll) != 0) {
            return false;
        }
        long now = nanoTime.getAsLong();
        for (long left = servers; left != 0; left &= left - 1) {
            if (now - lostSince[Long.numberOfTrailingZeros(left)] < nanos) {
                return false;
            }
        }
        return true;
    }

    /** Whether a process has the map open. */
    synchronized boolean isOpen() {
        return !members.isEmpty();
    }

    /**
     * Seals this edition for a process.
     *
     * @param lost the servers that do not answer it, and those that have left; a bit for each of the first 64
     * @param atOnce whether they need not have been lost for the map's time
     * @param leaving the servers that answer, and leave, a bit for each of the first 64
     * @param editionId of the edition that the process believes this server to be in
     * @return a status of {@link MapCalls}: BUSY if it is in another one
     */
    synchronized long seal(long lease, long lost, boolean atOnce, long leaving, long editionId) {
        if (editionId != id) {
            // The process asked some servers before, and others after, they took this edition.
            return MapCalls.BUSY;
        }
        boolean here = map.server() < Long.SIZE && (lost >>> map.server() & 1) != 0;
        // A server that joins has heard of none of the changes, and no process uses it.
        boolean joins = map.joined() && number == 0;
        long retired = directory.retired();
        long more = joins ? 0 : lost & ~retired;
        if (here || ((lost | leaving) & retired) != retired || more != 0 && !mayReplace(more, atOnce)) {
            return MapCalls.WRONG;
        }
        if (isSealed() && sealer != lease) {
            return MapCalls.BUSY;
        }
        if (!haveLost(more, atOnce ? 0 : map.replaceMillis() * NANOS_PER_MILLI)) {
            return MapCalls.IN_USE;
        }
        sealer = lease;
        sealedAt = nanoTime.getAsLong();
        sealed = lost | leaving;
        return MapCalls.OK;
    }

    /** Servers that have joined can be lost without the rest; of the others there must be enough. */
    private boolean mayReplace(long servers, boolean atOnce) {
        long made = map.servers() >= Long.SIZE ? ALL : (1L << map.servers()) - 1;
        long all = directory.servers() >= Long.SIZE ? ALL : (1L << directory.servers()) - 1;
        boolean possible = (servers & made) == 0 ? atOnce || map.replaceMillis() > 0 : map.replaces();
        return (servers & ~all) == 0 && possible;
    }

    /** A process has ended, or changes no servers after all. */
    synchronized void unseal(long lease) {
        sealer = sealer == lease ? 0 : sealer;
    }

    /** Whether a process may have its shards lose ranges, or take the next edition: only then that is looked at. */
    synchronized boolean mayChange(long lease, long nextNumber) {
        return isSealedBy(lease) && isNextNumber(nextNumber);
    }

    /** The numbers never end, whatever a process says, as each is little more than one that was. */
    private boolean isNextNumber(long nextNumber) {
        return nextNumber > number && nextNumber - number <= MOST_STEP;
    }

    private boolean mayFollow(long lease, long nextNumber, ShardDirectory next) {
        int server = map.server();
        boolean here = next.isPresent(server);
        return isSealedBy(lease)
                && isNextNumber(nextNumber)
                && next.retired() == sealed
                && (!here || next.shards(server) == ranges.shards())
                && (!here || !map.joined() || next.shard(server, 0) == map.firstShard());
    }

    /**
     * The shards lose the ranges that they do not have in the next edition.
     *
     * @return a status of {@link MapCalls}, as {@link #install}; or {@link ShardCalls#NOT_YET}
     */
    synchronized long release(long lease, long nextNumber, ShardDirectory next) {
        if (!mayFollow(lease, nextNumber, next)) {
            return MapCalls.STALE;
        }
        sealedAt = nanoTime.getAsLong();
        ranges.release(next);
        released = next.changes();
        return ranges.isSettled() ? MapCalls.OK : ShardCalls.NOT_YET;
    }

    /**
     * Installs the next edition, for which the shards have lost what they do not have in it.
     *
     * @return a status of {@link MapCalls}: STALE if the process has not sealed this one, or it cannot follow
     */
    synchronized long install(long lease, long nextNumber, long nextId, ShardDirectory next) {
        if (!mayFollow(lease, nextNumber, next) || !next.changes().equals(released) || !ranges.isSettled()) {
            return MapCalls.STALE;
        }
        ranges.serve(next);
        for (int joined = directory.servers(); joined < Math.min(next.servers(), Long.SIZE); joined++) {
            // Processes said that they do not know it; from now on the map's time passes until it is replaced.
            lostSince[joined] = nanoTime.getAsLong();
        }
        directory = next;
        number = nextNumber;
        id = nextId;
        released = null;
        sealer = 0;
        return MapCalls.OK;
    }

    /** The process that has sealed this edition says how to reach a server that joins. @return a status */
    synchronized long name(long lease, int server, byte[] address) {
        if (!isSealedBy(lease) || server < map.servers() || server >= MapDescriptor.MOST_SERVERS) {
            return MapCalls.STALE;
        }
        sealedAt = nanoTime.getAsLong();
        addresses.put(server, address);
        return MapCalls.OK;
    }

    /** The address of a server that has joined; of no bytes if it is not known. */
    synchronized byte[] address(int server) {
        return addresses.getOrDefault(server, NO_ADDRESS);
    }
}
