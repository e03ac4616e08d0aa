package io.farheap.kv.leased.server;

import io.farheap.kv.format.MapCalls;
import io.farheap.kv.leased.format.LeasedDescriptor;
import io.farheap.kv.leased.format.ShardCalls;
import io.farheap.kv.leased.format.ShardDirectory;
import io.farheap.rpc.Reply;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongSupplier;
import org.agrona.collections.Long2ObjectHashMap;

/**
 * The edition of a leased map that one of its servers is in: which servers have its shards, and which shard has which
 * keys. The next edition is installed by a process that has sealed this one, which it can when all processes that are
 * registered have lost the servers that do not answer it. Thread-safe; each call is short.
 */
final class ShardEdition {

    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final long ALL = -1;

    /** A process that has the map open. */
    private static final class Member {

        /** The servers that had left when it opened the map: it does not know how to reach them. */
        private final long retired;
        /** The servers that it has lost since. */
        private long lost;

        Member(long retired) {
            this.retired = retired;
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
    /** The servers that are lost for the process that has sealed it, and those that have left. */
    private long sealed;
    /** The servers that all processes have lost, and by server since when. */
    private long lostByAll = ALL;

    private final long[] lostSince = new long[Long.SIZE];

    ShardEdition(LeasedDescriptor map, LongSupplier nanoTime) {
        this.map = map;
        this.nanoTime = nanoTime;
        directory = ShardDirectory.of(map);
        Arrays.fill(lostSince, nanoTime.getAsLong());
    }

    /** Which shard has which keys. Any thread. */
    ShardDirectory directory() {
        return directory;
    }

    synchronized long id() {
        return id;
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
        for (int i = 0; i < changes.size(); i++) {
            out.setLong((ShardCalls.EDITION_WORDS + i) * Long.BYTES, changes.get(i).word());
        }
        return ShardCalls.EDITION_WORDS + changes.size();
    }

    /** A process opens the map. @return a status of {@link MapCalls} */
    synchronized long register(long lease, long editionId) {
        if (members.containsKey(lease)) {
            return MapCalls.OK;
        }
        if (sealer != 0) {
            return MapCalls.BUSY;
        }
        if (editionId != id) {
            return MapCalls.STALE;
        }
        members.put(lease, new Member(directory.retired()));
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
     * @return a status of {@link MapCalls}
     */
    synchronized long seal(long lease, long lost, boolean atOnce) {
        long retired = directory.retired();
        long all = directory.servers() >= Long.SIZE ? ALL : (1L << directory.servers()) - 1;
        boolean here = map.server() < Long.SIZE && (lost >>> map.server() & 1) != 0;
        long more = lost & ~retired;
        if (here || (lost & ~all) != 0 || (lost & retired) != retired || more != 0 && !map.replaces()) {
            return MapCalls.WRONG;
        }
        if (sealer != 0 && sealer != lease) {
            return MapCalls.BUSY;
        }
        if (!haveLost(more, atOnce ? 0 : map.replaceMillis() * NANOS_PER_MILLI)) {
            return MapCalls.IN_USE;
        }
        sealer = lease;
        sealed = lost;
        return MapCalls.OK;
    }

    /** A process has ended, or changes no servers after all. */
    synchronized void unseal(long lease) {
        sealer = sealer == lease ? 0 : sealer;
    }

    /**
     * Installs the next edition.
     *
     * @return a status of {@link MapCalls}: STALE if the process has not sealed this one, or it cannot follow
     */
    synchronized long install(long lease, long nextNumber, long nextId, ShardDirectory next) {
        if (sealer == 0 || sealer != lease || nextNumber <= number || next.retired() != sealed) {
            return MapCalls.STALE;
        }
        directory = next;
        number = nextNumber;
        id = nextId;
        sealer = 0;
        return MapCalls.OK;
    }
}
