package io.farheap.kv.leased.client;

import io.farheap.kv.format.BlockAudit;
import io.farheap.kv.format.BlockChecksum;
import io.farheap.kv.format.KeyHash;
import io.farheap.kv.leased.format.LeasedBlock;
import io.farheap.kv.leased.format.LeasedCalls;
import io.farheap.kv.leased.format.LeasedDescriptor;
import io.farheap.kv.leased.format.LeasedPieces;
import io.farheap.kv.leased.format.ShardDirectory;
import io.farheap.kv.leased.format.ShardShape;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteSpace;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A leased map's memory as this process has it open: which server has the shard of a key, and where its blocks are.
 * Servers join and leave while it is used; a session that looks at an older state asks a server that has the key no
 * more, which says so. Any thread.
 */
public final class LeasedSpace {

    private final LeasedDescriptor map;
    private final ShardShape shape;
    private final BlockChecksum checksum;
    private volatile View view;
    /** Run when a server says that a key is elsewhere. */
    private volatile Runnable onElsewhere = () -> {};

    /** Held by the thread of this process that changes the map's servers: they know it by its lease, as all others. */
    private final ReentrantLock changing = new ReentrantLock();

    private volatile boolean leaving;
    private volatile boolean ending;
    private volatile boolean ended;

    /** The map in one edition. */
    private static final class View {

        private final ShardReplacer.UsedEdition edition;
        private final ShardDirectory directory;
        /** By server; those that have left, too, as sessions may have something in flight there. */
        private final @Nullable RemoteSpace[] spaces;

        private final List<RemoteSpace> present;
        /** By shard: its region, unless the process has never used its server, and its offset in that. */
        private final @Nullable RemoteRegion[] regions;

        private final long[] offsets;
        private final LeaseQuorum quorum;

        View(ShardReplacer.UsedEdition edition, LeasedDescriptor map, ShardShape shape, @Nullable View before) {
            this.edition = edition;
            directory = edition.directory();
            spaces = new RemoteSpace[directory.servers()];
            for (int number = 0; before != null && number < before.spaces.length; number++) {
                spaces[number] = before.spaces[number];
            }
            edition.spaces().forEach((number, space) -> spaces[number] = space);
            present = List.copyOf(edition.spaces().values());
            regions = new RemoteRegion[directory.shards()];
            offsets = new long[directory.shards()];
            for (int shard = 0; shard < regions.length; shard++) {
                RemoteSpace space = spaces[directory.serverOf(shard)];
                int index = directory.indexOf(shard);
                int region = index / shape.perRegion();
                RemoteRegion known = before != null && shard < before.regions.length ? before.regions[shard] : null;
                regions[shard] =
                        known == null && space != null ? space.regions().get(region) : known;
                offsets[shard] = index % shape.perRegion() * shape.shardBytes();
            }
            quorum = new LeaseQuorum(
                    edition.spaces().headMap(map.servers()).values().stream()
                            .map(space -> server(space.server()))
                            .toArray(LeaseQuorum.Server[]::new),
                    map.replaces(),
                    directory.servers() > map.servers(),
                    System::nanoTime);
        }

        private static LeaseQuorum.Server server(RemoteServer server) {
            return now -> server.lost() == null ? server.heldUntil() : now;
        }
    }

    /**
     * @param map of any of its servers
     * @param edition in which the process has opened the map
     */
    public LeasedSpace(LeasedDescriptor map, ShardReplacer.UsedEdition edition) {
        this.map = map;
        shape = map.shape();
        checksum = new BlockChecksum(map.keyHash());
        view = new View(edition, map, shape, null);
    }

    /** The process uses the map in another edition from now on. */
    void use(ShardReplacer.UsedEdition edition) {
        view = new View(edition, map, shape, view);
    }

    /** The edition in which the process uses the map. */
    ShardReplacer.UsedEdition edition() {
        return view.edition;
    }

    /**
     * Has all servers account for their blocks.
     *
     * @throws MapException if one does not answer
     */
    public BlockAudit audit(RemoteMemory remote) {
        return ShardLines.audit(remote, edition().spaces());
    }

    /** One thread of this process changes the map's servers at a time, and has this lock. */
    ReentrantLock changing() {
        return changing;
    }

    /** Sets what is run when a server says that a key is elsewhere; it must not wait. */
    void onElsewhere(Runnable then) {
        onElsewhere = then;
    }

    /** A server says that it does not have a key. */
    void elsewhere() {
        onElsewhere.run();
    }

    public LeasedDescriptor map() {
        return map;
    }

    /** The spaces of the map's servers, in the order of their numbers. */
    public List<RemoteSpace> spaces() {
        return view.present;
    }

    /** The spaces of those of the servers that the map was made on. */
    public List<RemoteSpace> madeOn() {
        return List.copyOf(view.edition.spaces().headMap(map.servers()).values());
    }

    KeyHash keyHash() {
        return map.keyHash();
    }

    BlockChecksum checksum() {
        return checksum;
    }

    /** How many servers the map has had; their numbers are below. */
    int servers() {
        return view.spaces.length;
    }

    /** Whether a server is one of the map's. @param number below {@link #servers} */
    boolean hasServer(int number) {
        return view.directory.isPresent(number);
    }

    private RemoteSpace space(int number) {
        RemoteSpace space = view.spaces[number];
        if (space == null) {
            throw new IllegalStateException("server " + number + " had left the map when it was opened");
        }
        return space;
    }

    /** @param number of a server that the process uses or has used */
    RemoteServer server(int number) {
        return space(number).server();
    }

    /** Whether a server has left the map, or the lease on it is lost. @param number as of {@link #server} */
    boolean isLost(int number) {
        return !hasServer(number) || server(number).lost() != null;
    }

    /** Whether the lease on one of the map's servers is lost, so that this process follows no change of these. */
    boolean hasLost() {
        List<RemoteSpace> present = view.present;
        for (int i = 0; i < present.size(); i++) {
            if (present.get(i).server().lost() != null) {
                return true;
            }
        }
        return false;
    }

    /** @param number as of {@link #server} */
    long spaceId(int number) {
        return space(number).id();
    }

    /** The number of the server that has a key's shard. */
    int serverOfKey(long hash) {
        return view.directory.serverOfKey(hash);
    }

    /** The number of the server that has a shard. */
    int serverOf(int shard) {
        return view.directory.serverOf(shard);
    }

    /** Whether a server may have named this place, of a block with these lengths. @param keyBytes 0 of a piece */
    boolean has(long place, int keyBytes, int valueBytes) {
        int shard = LeasedCalls.shard(place);
        long unit = Integer.toUnsignedLong(LeasedCalls.unit(place));
        @Nullable RemoteRegion[] regions = view.regions;
        return shard >= 0
                && shard < regions.length
                && regions[shard] != null
                && valueBytes >= 0
                && valueBytes <= LeasedPieces.MOST_VALUE_BYTES
                && unit * LeasedBlock.UNIT_BYTES + LeasedBlock.bytes(keyBytes, valueBytes) <= shape.shardBytes();
    }

    /** The region of a place that the map {@linkplain #has has}. */
    RemoteRegion region(long place) {
        RemoteRegion region = view.regions[LeasedCalls.shard(place)];
        if (region == null) {
            throw new IllegalStateException("the process has never used shard " + LeasedCalls.shard(place));
        }
        return region;
    }

    /** The offset in its region of a place. */
    long offset(long place) {
        return view.offsets[LeasedCalls.shard(place)]
                + Integer.toUnsignedLong(LeasedCalls.unit(place)) * LeasedBlock.UNIT_BYTES;
    }

    /**
     * Whether the process may not begin a request any more, as it holds leases on less than half of the servers by its
     * clock, so that others may have the keys of these; or it is about to end its use of the map.
     */
    boolean isCutOff() {
        return leaving || view.quorum.isMissing();
    }

    /** The process is about to end its use of the map: it begins no request any more. */
    public void leave() {
        leaving = true;
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
