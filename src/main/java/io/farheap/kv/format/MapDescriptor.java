package io.farheap.kv.format;

import io.farheap.kv.contract.MapException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The parameters of a map, which its creator writes into the descriptor of each server's space and each process that
 * opens the map reads. Big endian.
 *
 * <pre>
 *  0  u64  {@link #MARK}
 *  8  u32  {@link #VERSION} of the formats
 * 12  u32  engine; {@link MapEngine#DISAGGREGATED}
 * 16  u64  number of the map, the same on all of its servers
 * 24  u16  number of this server among the map's, from 0; of a server that has joined later, at least the next field
 * 26  u16  how many servers the map was made on
 * 28  u32  regions that the map began with on each of these
 * 32  u64  bytes of a region
 * 40  u64  objects that the map is made for
 * 48  u64  when it was created, in ms since 1970
 * 56  u64  blocks of 64 bytes that it has at most; 0: blocks of any size, as many as there is memory for
 * 64  u64  } key of the hash of keys, the same on all servers of the map: {@link KeyHash}; the secrets of
 * 72  u64  } {@link BlockChecksum} are made of it
 * 80  u64  ms after which the part of the table on a lost server is made again on others; 0: never
 * 88       name of the policy, in ASCII
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
        long replaceMillis,
        String policy) {

    static final long MARK = 0x4661726865617031L;
    static final int VERSION = 8;

    private static final int BEGINNING_BYTES = 16;
    private static final int BYTES = 88;
    private static final int MOST_POLICY_BYTES = 128;
    public static final int MOST_SERVERS = 1 << 10;
    /**
     * A lost server is replaced if more than half of the servers that have the table remain, and at least this many had
     * it: of two servers neither can tell whether the other is lost or cut off.
     */
    public static final int LEAST_REPLACING = 3;

    /** This descriptor, for another server. */
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
                replaceMillis,
                policy);
    }

    /** The bytes of the descriptor, which {@link #decode} reads. */
    public byte[] encode() {
        byte[] name = policy.getBytes(StandardCharsets.US_ASCII);
        return ByteBuffer.allocate(BYTES + name.length)
                .put(beginning(MapEngine.DISAGGREGATED))
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
                .putLong(replaceMillis)
                .put(name)
                .array();
    }

    /** Whether a space's descriptor is a map's, of any release. */
    public static boolean isOfMap(byte[] bytes) {
        return bytes.length >= Long.BYTES && ByteBuffer.wrap(bytes).getLong() == MARK;
    }

    /** The first 16 bytes of a map's descriptor, which all engines have. */
    public static byte[] beginning(MapEngine engine) {
        return ByteBuffer.allocate(BEGINNING_BYTES)
                .putLong(MARK)
                .putInt(VERSION)
                .putInt(engine.number())
                .array();
    }

    /**
     * The engine of the map that has a descriptor.
     *
     * @param where names the space, for the exception's message
     * @throws MapException if it is not a map's descriptor of this release, or of an engine that this release has not
     */
    public static MapEngine engine(byte[] bytes, String where) {
        if (bytes.length < BEGINNING_BYTES || !isOfMap(bytes)) {
            throw new MapException(where + " is no map: another program made it; choose another name");
        }
        ByteBuffer in = ByteBuffer.wrap(bytes).position(Long.BYTES);
        int version = in.getInt();
        int number = in.getInt();
        if (version != VERSION) {
            throw new MapException(where + " is a map of format " + version + ", and this release has format " + VERSION
                    + ": open it with the release that created it, or end it with farheap kv drop --parts");
        }
        for (MapEngine engine : MapEngine.values()) {
            if (engine.number() == number) {
                return engine;
            }
        }
        throw new MapException(where + " is a map of engine " + number + ", and this release has the engines "
                + List.of(MapEngine.values()) + ": open it with the release that created it");
    }

    /**
     * Decodes a space's descriptor.
     *
     * @param where names the space, for the exception's message
     * @throws MapException if it is not a map's descriptor of this release
     */
    public static MapDescriptor decode(byte[] bytes, String where) {
        MapEngine engine = engine(bytes, where);
        if (engine != MapEngine.DISAGGREGATED) {
            throw new MapException(where + " is a map of engine " + engine + ", not " + MapEngine.DISAGGREGATED);
        }
        if (bytes.length < BYTES || bytes.length > BYTES + MOST_POLICY_BYTES) {
            throw new MapException(where + " has a descriptor of " + bytes.length + " bytes; a map's has " + BYTES
                    + " to " + (BYTES + MOST_POLICY_BYTES));
        }
        ByteBuffer in = ByteBuffer.wrap(bytes).position(BEGINNING_BYTES);
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
                in.getLong(),
                new String(bytes, BYTES, bytes.length - BYTES, StandardCharsets.US_ASCII));
        if (read.servers < 1
                || read.servers > MOST_SERVERS
                || read.server >= MOST_SERVERS
                || read.regionsOfEach < 1
                || read.regionsOfEach > Integer.MAX_VALUE / read.servers
                || read.regionBytes < SpaceShape.PAGE_BYTES
                || read.objects < 1
                || read.mostBlocks < 0
                || read.replaceMillis < 0) {
            throw new MapException(where + " has a descriptor that cannot be: " + read);
        }
        return read;
    }

    /** The offsets of everything in the map's regions. */
    public SpaceShape shape() {
        int regions = regionsOfEach * servers;
        SpaceShape shape = SpaceShape.of(regionBytes, regions, objects);
        return mostBlocks == 0
                ? shape
                : shape.withSegments(BlockFormat.UNIT_BYTES, Math.ceilDiv(mostBlocks, (long) regions));
    }

    /** Whether the server has joined the map later, so that it has no part of the table. */
    public boolean joined() {
        return server >= servers;
    }

    /** The regions that the map began with on this server. */
    public int firstRegions() {
        return joined() ? 0 : regionsOfEach;
    }

    /** Whether the part of the table on a server that is lost for good is made again on others. */
    public boolean replaces() {
        return replaceMillis > 0 && servers >= LEAST_REPLACING;
    }

    /** Whether this descriptor and the other one are of servers of the same map. */
    public boolean belongsTo(MapDescriptor other) {
        return equals(other.of(server));
    }
}
