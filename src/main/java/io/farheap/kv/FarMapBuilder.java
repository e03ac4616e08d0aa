package io.farheap.kv;

import io.farheap.control.ControlException;
import io.farheap.control.SpaceKey;
import io.farheap.control.plane.SpacePlane;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.eviction.EvictionSettings;
import io.farheap.kv.format.KeyHash;
import io.farheap.kv.format.MapDescriptor;
import io.farheap.kv.format.RegionDirectory;
import io.farheap.kv.format.SpaceShape;
import io.farheap.kv.keeper.MapKeeper;
import io.farheap.kv.keeper.MapServers;
import io.farheap.kv.keeper.SynchronizedMapClock;
import io.farheap.kv.space.SpaceMemory;
import io.farheap.lifetime.CloseStack;
import io.farheap.memory.ByteSize;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteSpace;
import io.farheap.remote.contract.RemoteServer;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Says which map, and makes it or opens it. One thread. */
public final class FarMapBuilder {

    private static final long DEFAULT_MEMORY = 1L << 30;
    /** Where nobody says how many objects there will be: of so many bytes each. */
    private static final long DEFAULT_OBJECT_BYTES = 512;

    private String name = "";
    private String token = "";
    private List<String> servers = List.of();
    private String device = "";
    private String without = "";
    private long memory = DEFAULT_MEMORY;
    private long objects;
    private long mostBlocks;
    private EvictionSettings policy = EvictionSettings.ADAPTIVE;
    private @Nullable Duration life;

    FarMapBuilder() {}

    /** Of the map, 1 to 128 printable characters; no other space of its servers has it. */
    public FarMapBuilder name(String value) {
        name = value;
        return this;
    }

    /** What keeps others out: 8 to 64 bytes in UTF-8, best random ones. */
    public FarMapBuilder token(String value) {
        token = value;
        return this;
    }

    /**
     * Memory servers, HOST:PORT each; to open a map, all that it was made on, in any order. Those that have joined it
     * since are found by themselves.
     */
    public FarMapBuilder servers(String... hostPorts) {
        servers = List.of(hostPorts);
        return this;
    }

    /**
     * Opens the map without a server that has joined it and is lost for good; its objects are gone for this process. To
     * {@linkplain FarMap#drain drain} it, after which any process can open the map again. To open a map.
     *
     * @param hostPort as it was added
     */
    public FarMapBuilder withoutServer(String hostPort) {
        without = hostPort;
        return this;
    }

    /** The RDMA device; by default the first that serves. */
    public FarMapBuilder device(String value) {
        device = value;
        return this;
    }

    /** Bytes of all servers together, rounded up to whole regions on each; by default 1 GiB. To create a map. */
    public FarMapBuilder memory(long bytes) {
        memory = bytes;
        return this;
    }

    /**
     * How many objects the map is to hold. The table is made for as many and does not grow: it takes 80 bytes for each,
     * and where there are many more, they evict each other before the memory is full. By default one for each 512 bytes
     * of memory, which is whole regions. To create a map.
     */
    public FarMapBuilder objects(long count) {
        if (count < 1) {
            throw new IllegalArgumentException("a map for " + count + " objects; it needs at least 1");
        }
        objects = count;
        return this;
    }

    /**
     * The map holds at most so many objects, each of at most 24 bytes of key, padded to 8, and value together; what
     * sessions hold free counts. For measuring what a policy is worth. To create a map.
     */
    public FarMapBuilder smallObjects(long most) {
        if (most < 1) {
            throw new IllegalArgumentException("a map of at most " + most + " objects; it has at least 1");
        }
        mostBlocks = most;
        return this;
    }

    /**
     * What decides which object is evicted: {@code adaptive}, the default; {@code paper}, which learns how much to
     * follow LRU and LFU; or one or several {@linkplain io.farheap.kv.policy.Policies#names policies}, separated by
     * commas, which it learns to weigh. To create a map.
     *
     * @throws IllegalArgumentException where there is no such policy, or maps cannot have it
     */
    public FarMapBuilder policy(String value) {
        policy = EvictionSettings.of(value);
        return this;
    }

    /**
     * After this time the map ends with all that is in it; by default it stays until it is dropped. To create a map.
     */
    public FarMapBuilder life(Duration value) {
        life = value;
        return this;
    }

    /**
     * Makes a map, with all that was said or not at all.
     *
     * @throws IllegalArgumentException where what was said makes no sense
     * @throws ControlException where a server cannot be reached, has too little memory, or has a space of that name
     */
    public FarMap create() {
        return connect(this::create);
    }

    /**
     * Opens a map that is there. What it was created with is told by its servers.
     *
     * @throws MapException where it is none of this release's, or servers of it were not named
     * @throws ControlException where a server cannot be reached, has no such map, or the token is another
     */
    public FarMap open() {
        return connect(this::open);
    }

    private interface MapOpener {
        FarMap on(RemoteMemory remote, List<RemoteServer> attached, SpaceKey key, CloseStack stack);
    }

    private FarMap connect(MapOpener way) {
        SpaceKey key = SpaceKey.of(name, token);
        if (servers.isEmpty()
                || servers.size() > MapDescriptor.MOST_SERVERS
                || servers.stream().distinct().count() != servers.size()) {
            throw new IllegalArgumentException(
                    "a map on servers " + servers + "; name 1 to " + MapDescriptor.MOST_SERVERS + ", each once");
        }
        try (CloseStack stack = new CloseStack()) {
            RemoteMemory remote = stack.add(RemoteMemory.open(device, "map " + name));
            List<RemoteServer> attached = servers.stream().map(remote::attach).toList();
            FarMap map = way.on(remote, attached, key, stack);
            stack.keep();
            return map;
        }
    }

    private FarMap create(RemoteMemory remote, List<RemoteServer> attached, SpaceKey key, CloseStack stack) {
        long regionBytes = attached.getFirst().description().regionBytes();
        for (RemoteServer server : attached) {
            if (server.description().regionBytes() != regionBytes) {
                throw new IllegalArgumentException("regions of " + ByteSize.text(regionBytes) + " on "
                        + attached.getFirst() + " and of "
                        + ByteSize.text(server.description().regionBytes()) + " on " + server
                        + "; a map lies on servers with regions of one size");
            }
        }
        int each = regionsOfEach(regionBytes, attached.size());
        int regions = each * attached.size();
        long wanted = objects > 0 ? objects : Math.max(1, regions * regionBytes / DEFAULT_OBJECT_BYTES);
        SpaceShape.of(regionBytes, regions, wanted);
        MapDescriptor descriptor = new MapDescriptor(
                ThreadLocalRandom.current().nextLong(),
                0,
                attached.size(),
                each,
                regionBytes,
                wanted,
                System.currentTimeMillis(),
                mostBlocks,
                KeyHash.random(new SecureRandom()),
                policy.name());
        long millis = life == null ? SpacePlane.FOR_EVER : Lifetimes.millis(life, SpacePlane.FOR_EVER);
        List<RemoteSpace> spaces = new ArrayList<>();
        for (RemoteServer server : attached) {
            RemoteSpace space = remote.createSpace(
                    server, key, each, millis, descriptor.of(spaces.size()).encode());
            stack.add(space::drop);
            spaces.add(space);
        }
        return map(remote, key, descriptor, spaces, "");
    }

    private int regionsOfEach(long regionBytes, int of) {
        long most = (long) (SpaceShape.mostRegions(regionBytes) / of) * of * regionBytes;
        if (memory < 1 || memory > most) {
            throw new IllegalArgumentException(
                    "a map of " + ByteSize.text(memory) + " on " + of + " servers with regions of "
                            + ByteSize.text(regionBytes) + "; it has 1 byte to " + ByteSize.text(most));
        }
        return Math.toIntExact(Math.ceilDiv(memory, regionBytes * of));
    }

    private FarMap open(RemoteMemory remote, List<RemoteServer> attached, SpaceKey key, CloseStack unused) {
        List<RemoteSpace> opened = new ArrayList<>();
        List<MapDescriptor> descriptors = new ArrayList<>();
        for (RemoteServer server : attached) {
            RemoteSpace space = remote.openSpace(server, key);
            MapDescriptor own = MapDescriptor.decode(space.descriptor(), space.toString());
            if (!own.joined()) {
                opened.add(space);
                descriptors.add(own);
            }
            if (!own.belongsTo(descriptors.isEmpty() ? own : descriptors.getFirst())) {
                throw new MapException(
                        space + " is of another map than " + opened.getFirst() + "; name the servers of one map");
            }
        }
        if (descriptors.isEmpty() || descriptors.getFirst().servers() != opened.size()) {
            throw new MapException("map " + name + " was made on "
                    + (descriptors.isEmpty()
                            ? "other"
                            : Integer.toString(descriptors.getFirst().servers()))
                    + " servers, and " + opened.size() + " of these were named; name all of them");
        }
        List<RemoteSpace> inOrder = new ArrayList<>();
        for (int number = 0; number < opened.size(); number++) {
            int at = indexOf(descriptors, number);
            if (at < 0) {
                throw new MapException("two servers say that they are the same one of map " + name
                        + "; name each server by one address, once");
            }
            inOrder.add(opened.get(at));
        }
        return map(remote, key, descriptors.getFirst(), inOrder, without);
    }

    private static int indexOf(List<MapDescriptor> descriptors, int number) {
        return IntStream.range(0, descriptors.size())
                .filter(i -> descriptors.get(i).server() == number)
                .findFirst()
                .orElse(-1);
    }

    private static FarMap map(
            RemoteMemory remote, SpaceKey key, MapDescriptor descriptor, List<RemoteSpace> spaces, String without) {
        SpaceMemory memory =
                new SpaceMemory(descriptor.shape(), descriptor.keyHash(), RegionDirectory.of(descriptor), spaces::get);
        MapServers servers =
                new MapServers(remote, key, ThreadLocalRandom.current().nextLong(), without);
        SynchronizedMapClock time = new SynchronizedMapClock(System::nanoTime);
        return new FarMap(
                remote,
                servers,
                memory,
                time,
                EvictionSettings.of(descriptor.policy()),
                new MapKeeper(servers, spaces, memory, time));
    }
}
