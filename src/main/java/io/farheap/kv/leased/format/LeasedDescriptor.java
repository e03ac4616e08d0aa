package io.farheap.kv.leased.format;

import io.farheap.kv.contract.MapException;
import io.farheap.kv.format.KeyHash;
import io.farheap.kv.format.MapDescriptor;
import io.farheap.kv.format.MapEngine;
import java.nio.ByteBuffer;

/**
 * The parameters of a leased map, which its creator writes into the descriptor of each server's space. Big endian; the
 * first 16 bytes are those of {@link MapDescriptor}, of another engine.
 *
 * <pre>
 *  0  u64  the mark of maps
 *  8  u32  version of the formats
 * 12  u32  engine
 * 16  u64  number of the map, the same on all of its servers
 * 24  u16  number of this server among the map's; of a server that has joined later, at least the next field
 * 26  u16  how many servers the map was made on
 * 28  u32  regions on each of these
 * 32  u64  bytes of a region
 * 40  u64  objects that the map is made for
 * 48  u64  the term of queue 1, in ns; that of queue n is n times as long
 * 56  u64  the longest term, in ns
 * 64  u32  queues
 * 68  u32  of a server that has joined later, the number of its first shard; else 0
 * 72  u64  } key of the hash of keys, the same on all servers of the map; the secrets of the blocks' checksum are made
 * 80  u64  } of it
 * 88  u64  ms after which others have the shards' keys of a server that is lost; 0: never
 * </pre>
 */
public record LeasedDescriptor(
        long mapId,
        int server,
        int servers,
        int regionsOfEach,
        long regionBytes,
        long objects,
        long termNanos,
        long mostTermNanos,
        int queues,
        KeyHash keyHash,
        long replaceMillis,
        int firstShard) {

    /** The most queues: an object's count has 16 bits. */
    public static final int MOST_QUEUES = 16;
    /** The longest term that a map may have, in ns. */
    public static final long MOST_TERM_NANOS = 60_000_000_000L;

    private static final int BYTES = 96;

    /** The descriptor of a map whose lost servers are not replaced. */
    public LeasedDescriptor(
            long mapId,
            int server,
            int servers,
            int regionsOfEach,
            long regionBytes,
            long objects,
            long termNanos,
            long mostTermNanos,
            int queues,
            KeyHash keyHash) {
        this(
                mapId,
                server,
                servers,
                regionsOfEach,
                regionBytes,
                objects,
                termNanos,
                mostTermNanos,
                queues,
                keyHash,
                0,
                0);
    }

    /** This descriptor, for another of the servers that the map was made on. */
    public LeasedDescriptor of(int number) {
        return of(number, 0);
    }

    /** This descriptor, for another server, whose first shard has a number, if it has joined later. */
    public LeasedDescriptor of(int number, int shard) {
        return new LeasedDescriptor(
                mapId,
                number,
                servers,
                regionsOfEach,
                regionBytes,
                objects,
                termNanos,
                mostTermNanos,
                queues,
                keyHash,
                replaceMillis,
                shard);
    }

    /** The bytes of the descriptor, which {@link #decode} reads. */
    public byte[] encode() {
        return ByteBuffer.allocate(BYTES)
                .put(MapDescriptor.beginning(MapEngine.LEASED))
                .putLong(mapId)
                .putShort((short) server)
                .putShort((short) servers)
                .putInt(regionsOfEach)
                .putLong(regionBytes)
                .putLong(objects)
                .putLong(termNanos)
                .putLong(mostTermNanos)
                .putInt(queues)
                .putInt(firstShard)
                .putLong(keyHash.first())
                .putLong(keyHash.second())
                .putLong(replaceMillis)
                .array();
    }

    /**
     * Decodes a space's descriptor.
     *
     * @param where names the space, for the exception's message
     * @throws MapException if it is not the descriptor of a leased map of this release
     */
    public static LeasedDescriptor decode(byte[] bytes, String where) {
        MapEngine engine = MapDescriptor.engine(bytes, where);
        if (engine != MapEngine.LEASED) {
            throw new MapException(where + " is of a map of engine " + engine
                    + ", and other servers that were named are of a leased map; name the servers of one map");
        }
        if (bytes.length != BYTES) {
            throw new MapException(where + " is a leased map with a descriptor of " + bytes.length
                    + " bytes; one of this release has " + BYTES + ": end it with kv drop --parts");
        }
        ByteBuffer in = ByteBuffer.wrap(bytes).position(2 * Long.BYTES);
        long mapId = in.getLong();
        int server = Short.toUnsignedInt(in.getShort());
        int servers = Short.toUnsignedInt(in.getShort());
        int regionsOfEach = in.getInt();
        long regionBytes = in.getLong();
        long objects = in.getLong();
        long termNanos = in.getLong();
        long mostTermNanos = in.getLong();
        int queues = in.getInt();
        int firstShard = in.getInt();
        LeasedDescriptor read = new LeasedDescriptor(
                mapId,
                server,
                servers,
                regionsOfEach,
                regionBytes,
                objects,
                termNanos,
                mostTermNanos,
                queues,
                new KeyHash(in.getLong(), in.getLong()),
                in.getLong(),
                firstShard);
        if (!read.isPossible()) {
            throw new MapException(where + " has a descriptor that cannot be: " + read);
        }
        try {
            read.shape();
        } catch (IllegalArgumentException e) {
            throw new MapException(where + " has a descriptor that cannot be: " + e.getMessage());
        }
        return read;
    }

    private boolean isPossible() {
        return servers >= 1
                && servers <= MapDescriptor.MOST_SERVERS
                && server < MapDescriptor.MOST_SERVERS
                && regionsOfEach >= 1
                && regionsOfEach <= ShardShape.MOST_SHARDS / servers
                && regionBytes >= ShardShape.SEGMENT_BYTES
                && objects >= 1
                && termNanos >= 0
                && mostTermNanos >= 0
                && mostTermNanos <= MOST_TERM_NANOS
                && termNanos <= MOST_TERM_NANOS
                && queues >= 1
                && queues <= MOST_QUEUES
                && replaceMillis >= 0
                && firstShard >= 0
                && firstShard < ShardShape.MOST_SHARDS;
    }

    /** The regions of the map on all servers. */
    public int regions() {
        return regionsOfEach * servers;
    }

    /**
     * The shape of the map's shards.
     *
     * @throws IllegalArgumentException as {@link ShardShape#of}
     */
    public ShardShape shape() {
        return ShardShape.of(regionBytes, regions(), objects);
    }

    /** Whether the server has joined the map later. */
    public boolean joined() {
        return server >= servers;
    }

    /** Whether others take over the keys of a server that is lost for good. */
    public boolean replaces() {
        return replaceMillis > 0 && servers >= MapDescriptor.LEAST_REPLACING;
    }

    /** Whether this descriptor and the other one are of servers of the same map. */
    public boolean belongsTo(LeasedDescriptor other) {
        return equals(other.of(server, firstShard));
    }
}
