package io.farheap.kv.leased.client;

import io.farheap.kv.format.BlockChecksum;
import io.farheap.kv.format.KeyHash;
import io.farheap.kv.leased.format.LeasedBlock;
import io.farheap.kv.leased.format.LeasedCalls;
import io.farheap.kv.leased.format.LeasedDescriptor;
import io.farheap.kv.leased.format.LeasedPieces;
import io.farheap.kv.leased.format.ShardDirectory;
import io.farheap.kv.leased.format.ShardShape;
import io.farheap.remote.RemoteSpace;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import java.util.List;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * A leased map's memory as this process has it open: which server has the shard of a key, and where its blocks are. Any
 * thread.
 */
public final class LeasedSpace {

    private final LeasedDescriptor map;
    private final ShardDirectory directory;
    private final ShardShape shape;
    /** By server; none of those that have left. */
    private final @Nullable RemoteSpace[] spaces;

    private final List<RemoteSpace> present;
    /** By shard: its region, unless its server has left, and its offset in that. */
    private final @Nullable RemoteRegion[] regions;

    private final long[] offsets;
    private final BlockChecksum checksum;
    private final LeaseQuorum quorum;
    private volatile boolean ending;
    private volatile boolean ended;

    /**
     * @param map of any of its servers
     * @param directory of the edition in which the process has opened the map
     * @param spaces of the servers that it has, by their numbers
     */
    public LeasedSpace(LeasedDescriptor map, ShardDirectory directory, SortedMap<Integer, RemoteSpace> spaces) {
        this.map = map;
        this.directory = directory;
        shape = map.shape();
        present = List.copyOf(spaces.values());
        this.spaces = new RemoteSpace[directory.servers()];
        spaces.forEach((number, space) -> this.spaces[number] = space);
        regions = new RemoteRegion[directory.shards()];
        offsets = new long[directory.shards()];
        for (int shard = 0; shard < regions.length; shard++) {
            RemoteSpace space = this.spaces[directory.serverOf(shard)];
            int index = directory.indexOf(shard);
            regions[shard] = space == null ? null : space.regions().get(index / shape.perRegion());
            offsets[shard] = index % shape.perRegion() * shape.shardBytes();
        }
        checksum = new BlockChecksum(map.keyHash());
        quorum = new LeaseQuorum(
                spaces.headMap(map.servers()).values().stream()
                        .map(space -> server(space.server()))
                        .toArray(LeaseQuorum.Server[]::new),
                System::nanoTime);
    }

    private static LeaseQuorum.Server server(RemoteServer server) {
        return now -> server.lost() == null ? server.heldUntil() : now;
    }

    public LeasedDescriptor map() {
        return map;
    }

    /** The spaces of the map's servers, in the order of their numbers. */
    public List<RemoteSpace> spaces() {
        return present;
    }

    KeyHash keyHash() {
        return map.keyHash();
    }

    BlockChecksum checksum() {
        return checksum;
    }

    /** How many servers the map has had; their numbers are below. */
    int servers() {
        return spaces.length;
    }

    /** Whether a server is one of the map's. */
    boolean hasServer(int number) {
        return spaces[number] != null;
    }

    private RemoteSpace space(int number) {
        RemoteSpace space = spaces[number];
        if (space == null) {
            throw new IllegalStateException("server " + number + " has left the map");
        }
        return space;
    }

    /** @param number of one of the map's servers */
    RemoteServer server(int number) {
        return space(number).server();
    }

    /** @param number of one of the map's servers */
    long spaceId(int number) {
        return space(number).id();
    }

    /** The number of the server that has a key's shard. */
    int serverOfKey(long hash) {
        return directory.serverOfKey(hash);
    }

    /** How many shards the map has had on all servers. */
    int shards() {
        return directory.shards();
    }

    /** The number of the server that has a shard. */
    int serverOf(int shard) {
        return directory.serverOf(shard);
    }

    /** Whether a server may have named this place, of a block with these lengths. @param keyBytes 0 of a piece */
    boolean has(long place, int keyBytes, int valueBytes) {
        int shard = LeasedCalls.shard(place);
        long unit = Integer.toUnsignedLong(LeasedCalls.unit(place));
        return shard >= 0
                && shard < regions.length
                && regions[shard] != null
                && valueBytes >= 0
                && valueBytes <= LeasedPieces.MOST_VALUE_BYTES
                && unit * LeasedBlock.UNIT_BYTES + LeasedBlock.bytes(keyBytes, valueBytes) <= shape.shardBytes();
    }

    /** The region of a place that the map {@linkplain #has has}. */
    RemoteRegion region(long place) {
        RemoteRegion region = regions[LeasedCalls.shard(place)];
        if (region == null) {
            throw new IllegalStateException("a server has left the map that had shard " + LeasedCalls.shard(place));
        }
        return region;
    }

    /** The offset in its region of a place. */
    long offset(long place) {
        return offsets[LeasedCalls.shard(place)]
                + Integer.toUnsignedLong(LeasedCalls.unit(place)) * LeasedBlock.UNIT_BYTES;
    }

    /**
     * Whether the process may not begin a request any more, as it holds leases on less than half of the servers by its
     * clock, so that others may have the keys of these; or it is about to end its use of the map.
     */
    boolean isCutOff() {
        return map.replaces() && quorum.isMissing();
    }

    /** The process is about to end its use of the map: it begins no request any more. */
    public void leave() {
        quorum.leave();
    }

    /** The process uses the map under other leases from now on: nothing more is posted under these, which end. */
    public void beginEnd() {
        ending = true;
    }

    /** The leases have ended, and no call that was posted under them can be carried out any more. */
    public void end() {
        ended = true;
    }

    /** Whether the leases end or have ended. */
    boolean isEnding() {
        return ending;
    }

    boolean hasEnded() {
        return ended;
    }
}
