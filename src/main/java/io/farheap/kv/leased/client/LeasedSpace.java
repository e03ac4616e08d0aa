package io.farheap.kv.leased.client;

import io.farheap.kv.format.BlockChecksum;
import io.farheap.kv.format.KeyHash;
import io.farheap.kv.leased.format.LeasedBlock;
import io.farheap.kv.leased.format.LeasedCalls;
import io.farheap.kv.leased.format.LeasedDescriptor;
import io.farheap.kv.leased.format.LeasedPieces;
import io.farheap.kv.leased.format.ShardShape;
import io.farheap.remote.RemoteSpace;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import java.util.List;

/**
 * A leased map's memory as this process has it open: which server has the shard of a key, and where its blocks are. Any
 * thread.
 */
public final class LeasedSpace {

    private final LeasedDescriptor map;
    private final ShardShape shape;
    private final int shards;
    private final List<RemoteSpace> spaces;
    /** By the map's number of a region. */
    private final RemoteRegion[] regions;

    private final BlockChecksum checksum;
    private volatile boolean ending;
    private volatile boolean ended;

    /**
     * @param map of any of its servers
     * @param spaces of all servers, in the order of their numbers
     */
    public LeasedSpace(LeasedDescriptor map, List<RemoteSpace> spaces) {
        this.map = map;
        this.spaces = List.copyOf(spaces);
        shape = map.shape();
        shards = map.regions() * shape.perRegion();
        regions = new RemoteRegion[map.regions()];
        for (int region = 0; region < regions.length; region++) {
            regions[region] = spaces.get(region % map.servers()).regions().get(region / map.servers());
        }
        checksum = new BlockChecksum(map.keyHash());
    }

    public LeasedDescriptor map() {
        return map;
    }

    /** The spaces of all servers, in the order of their numbers. */
    public List<RemoteSpace> spaces() {
        return spaces;
    }

    KeyHash keyHash() {
        return map.keyHash();
    }

    BlockChecksum checksum() {
        return checksum;
    }

    int servers() {
        return map.servers();
    }

    RemoteServer server(int number) {
        return spaces.get(number).server();
    }

    long spaceId(int server) {
        return spaces.get(server).id();
    }

    /** The number of the server that has a key's shard. */
    int serverOfKey(long hash) {
        return serverOf(ShardShape.shard(hash, shards));
    }

    /** How many shards the map has on all servers. */
    int shards() {
        return shards;
    }

    /** The number of the server that has a shard. */
    int serverOf(int shard) {
        return shard / shape.perRegion() % map.servers();
    }

    /** Whether a server may have named this place, of a block with these lengths. @param keyBytes 0 of a piece */
    boolean has(long place, int keyBytes, int valueBytes) {
        int shard = LeasedCalls.shard(place);
        long unit = Integer.toUnsignedLong(LeasedCalls.unit(place));
        return shard >= 0
                && shard < shards
                && valueBytes >= 0
                && valueBytes <= LeasedPieces.MOST_VALUE_BYTES
                && unit * LeasedBlock.UNIT_BYTES + LeasedBlock.bytes(keyBytes, valueBytes) <= shape.shardBytes();
    }

    /** The region of a place that the map {@linkplain #has has}. */
    RemoteRegion region(long place) {
        return regions[LeasedCalls.shard(place) / shape.perRegion()];
    }

    /** The offset in its region of a place. */
    long offset(long place) {
        return LeasedCalls.shard(place) % shape.perRegion() * shape.shardBytes()
                + Integer.toUnsignedLong(LeasedCalls.unit(place)) * LeasedBlock.UNIT_BYTES;
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
