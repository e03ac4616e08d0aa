package io.farheap.kv.format;

import io.farheap.kv.contract.MapException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * What a map's creator tells those who open it, in the descriptor of each server's space, big endian.
 *
 * <pre>
 *  0  u64  {@link #MARK}
 *  8  u32  {@link #VERSION} of the formats
 * 12  u32  engine; {@link #DISAGGREGATED}
 * 16  u64  number of the map, the same on all of its servers
 * 24  u16  number of this server among the map's, from 0; of one that has joined later, at least as many as it was made on
 * 26  u16  how many it was made on
 * 28  u32  regions that the map began with on each
 * 32  u64  bytes of a region
 * 40  u64  objects that it is made for
 * 48  u64  when it was created, in ms since 1970
 * 56  u64  blocks of 64 bytes that it has at most; 0: as many as there is memory for, of any size
 * 64  u64  } what keys are hashed by, the same on all of its servers: {@link KeyHash}
 * 72  u64  }
 * 80       name of the policy, in ASCII
 * </pre>
 */
public record MapDescriptor(
        long mapId,
        int server,
        int servers,
        int regionsOfEach,
        long regionBytes,
        long objects,
        long createdMillis,
        long mostBlocks,
        KeyHash keyHash,
        String policy) {

    static final long MARK = 0x4661726865617031L;
    static final int VERSION = 5;
    static final int DISAGGREGATED = 1;

    private static final int BYTES = 80;
    private static final int MOST_POLICY_BYTES = 128;
    public static final int MOST_SERVERS = 1 << 10;

    /** The same, of another server. */
    public MapDescriptor of(int number) {
        return new MapDescriptor(
                mapId,
                number,
                servers,
                regionsOfEach,
                regionBytes,
                objects,
                createdMillis,
                mostBlocks,
                keyHash,
                policy);
    }

    public byte[] encode() {
        byte[] name = policy.getBytes(StandardCharsets.US_ASCII);
        return ByteBuffer.allocate(BYTES + name.length)
                .putLong(MARK)
                .putInt(VERSION)
                .putInt(DISAGGREGATED)
                .putLong(mapId)
                .putShort((short) server)
                .putShort((short) servers)
                .putInt(regionsOfEach)
                .putLong(regionBytes)
                .putLong(objects)
                .putLong(createdMillis)
                .putLong(mostBlocks)
                .putLong(keyHash.first())
                .putLong(keyHash.second())
                .put(name)
                .array();
    }

    /**
     * @param where of which space it is, for the exception's message
     * @throws MapException where it is none of this release
     */
    public static MapDescriptor decode(byte[] bytes, String where) {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        if (bytes.length < BYTES || bytes.length > BYTES + MOST_POLICY_BYTES || in.getLong() != MARK) {
            throw new MapException(where + " is no map: another program made it; choose another name");
        }
        int version = in.getInt();
        int engine = in.getInt();
        if (version != VERSION || engine != DISAGGREGATED) {
            throw new MapException(where + " is a map of format " + version + " and engine " + engine
                    + ", and this release has " + VERSION + " and " + DISAGGREGATED + "; open it with its own");
        }
        MapDescriptor read = new MapDescriptor(
                in.getLong(),
                Short.toUnsignedInt(in.getShort()),
                Short.toUnsignedInt(in.getShort()),
                in.getInt(),
                in.getLong(),
                in.getLong(),
                in.getLong(),
                in.getLong(),
                new KeyHash(in.getLong(), in.getLong()),
                new String(bytes, BYTES, bytes.length - BYTES, StandardCharsets.US_ASCII));
        if (read.servers < 1
                || read.servers > MOST_SERVERS
                || read.server >= MOST_SERVERS
                || read.regionsOfEach < 1
                || read.regionsOfEach > Integer.MAX_VALUE / read.servers
                || read.regionBytes < SpaceShape.PAGE_BYTES
                || read.objects < 1
                || read.mostBlocks < 0) {
            throw new MapException(where + " has a descriptor that cannot be: " + read);
        }
        return read;
    }

    /** Where everything lies. */
    public SpaceShape shape() {
        int regions = regionsOfEach * servers;
        SpaceShape shape = SpaceShape.of(regionBytes, regions, objects);
        return mostBlocks == 0
                ? shape
                : shape.withSegments(BlockFormat.UNIT_BYTES, Math.ceilDiv(mostBlocks, (long) regions));
    }

    /** Whether the server has joined the map later, so that it has nothing of the table. */
    public boolean joined() {
        return server >= servers;
    }

    /** The regions that the map began with on this server. */
    public int firstRegions() {
        return joined() ? 0 : regionsOfEach;
    }

    /** Whether it is of another server of the same map. */
    public boolean belongsTo(MapDescriptor other) {
        return equals(other.of(server));
    }
}
