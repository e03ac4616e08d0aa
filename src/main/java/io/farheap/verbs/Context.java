package io.farheap.verbs;

import io.farheap.lifetime.CloseStack;
import io.farheap.verbs.binding.ibv_comp_channel;
import io.farheap.verbs.binding.ibv_context;
import io.farheap.verbs.binding.ibv_cq;
import io.farheap.verbs.binding.ibv_device_attr;
import io.farheap.verbs.binding.ibv_pd;
import io.farheap.verbs.binding.ibv_port_attr;
import io.farheap.verbs.binding.ibverbs;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.bytedeco.javacpp.Loader;
import org.jspecify.annotations.Nullable;

/** An open device. Any thread may create objects from it; it is closed after all of them. */
public final class Context implements AutoCloseable {

    /** The end of the text of the preferred one of {@link #gids}. */
    public static final String PREFERRED = ", preferred";

    /** A value of an anonymous enumeration in verbs.h, which JavaCPP does not map. */
    private static final int LINK_LAYER_ETHERNET = 2;
    /** A macro in verbs.h, set if the port is a virtual one, or of a fabric with more LIDs than fit. */
    private static final int GRH_REQUIRED = 1;
    /**
     * NVIDIA (Mellanox), Broadcom, Intel, Amazon, Huawei. Names would not do: udev renames devices, and any user may
     * name an rxe device.
     */
    private static final Set<Integer> BOUNDED_VENDORS = Set.of(0x02C9, 0x14E4, 0x8086, 0x1D0F, 0x19E5);

    private static final Path SYSFS = Path.of("/sys/class/infiniband");
    /** The VLAN tag has three bits for the priority. */
    private static final int MAX_ETHERNET_PRIORITY = 7;

    private final DeviceInfo device;
    private final VerbsLibrary library;
    private final ibv_context handle;
    private final ChildCount children;
    private final DeviceLimits limits;
    private final @Nullable PortInfo activePort;
    private final PortOptions options;
    private final DataPathCalls calls;
    private int portCount;
    private int vendorId;

    /** @param given whose device is this one, or any */
    Context(DeviceInfo device, VerbsLibrary library, ibv_context handle, PortOptions given) {
        this.device = device;
        this.library = library;
        this.handle = handle;
        this.children = new ChildCount("device " + device.name());
        try {
            this.limits = queryLimits();
            this.activePort = activePort(given.port());
            this.options = given.resolved(device.name(), activePort == null ? given.port() : activePort.number());
            if (activePort != null && activePort.ethernet() && options.serviceLevel() > MAX_ETHERNET_PRIORITY) {
                throw VerbsException.ofAddress("a service level of " + options.serviceLevel() + " for "
                        + name(activePort) + ", which is on Ethernet; it must be 0 to " + MAX_ETHERNET_PRIORITY);
            }
            this.calls = new DataPathCalls(handle, boundedPost());
        } catch (Throwable e) {
            ibverbs.farheap_close_device(handle);
            throw e;
        }
    }

    public DeviceInfo device() {
        return device;
    }

    /** Which libibverbs drives the device. */
    public VerbsLibrary library() {
        return library;
    }

    public DeviceLimits limits() {
        return limits;
    }

    private @Nullable PortInfo activePort(int number) {
        List<PortInfo> ports = ports();
        if (number > ports.size()) {
            throw new VerbsException("device " + device.name() + " has no port " + number
                    + "; choose one of ports 1 to " + ports.size());
        }
        return ports.stream()
                .filter(port -> port.active() && (number == 0 || number == port.number()))
                .findFirst()
                .orElse(null);
    }

    private String name(PortInfo port) {
        return "port " + port.number() + " of " + device.name();
    }

    /** How connections leave the port: as it was opened with, the properties and the defaults for the rest. */
    public PortOptions options() {
        return options;
    }

    /**
     * The port in use as it was when the device was opened: the one that was named, else the first that was active;
     * null if it was not active.
     */
    public @Nullable PortInfo activePort() {
        return activePort;
    }

    /**
     * The port in use as it was when the device was opened: the one that was named, else the first that was active.
     *
     * @throws VerbsException if it was not active
     */
    public PortInfo requireActivePort() {
        if (activePort != null) {
            return activePort;
        }
        if (options.port() == 0) {
            throw noActivePort(device.name());
        }
        throw new VerbsException("port " + options.port() + " of device " + device.name()
                + " is not active; bring its link up, or choose another port");
    }

    /**
     * Checks that connections of the port in use can be addressed now, which may change later. A device without an
     * active port passes.
     *
     * @throws VerbsException if no GID of the port may be used, if the options name one that it does not have, or if it
     *     is not in the partition that they name
     */
    public void checkAddress() {
        if (activePort != null) {
            List<GidEntry> _ = candidates(activePort);
            int _ = partitionIndex(activePort);
        }
    }

    /**
     * The device for people, such as {@code soft0}. On Ethernet, where a port has many addresses, with the one that it
     * prefers now: {@code mlx5_0, port 1, GID 3 10.0.0.5 (RoCEv2, eth0)}.
     */
    public String label() {
        PortInfo port = activePort;
        if (port == null || !port.ethernet()) {
            return device.name();
        }
        String name = device.name() + ", port " + port.number();
        try {
            return name + ", " + candidates(port).getFirst();
        } catch (VerbsException e) {
            // The address has left since the device was opened.
            return name;
        }
    }

    /**
     * The GIDs of a port that are not empty, for people: index, address, type and network interface, such as {@code GID
     * 3 10.0.0.5 (RoCEv2, eth0)}. The one that the port in use prefers ends with {@link #PREFERRED}.
     */
    public List<String> gids(PortInfo port) {
        GidTable table = gidTable(port, 0, port.gidEntries());
        int preferred = activePort == null || activePort.number() != port.number() ? -1 : preferred(table);
        return table.entries().stream()
                .map(entry -> entry.index() == preferred ? entry + PREFERRED : entry.toString())
                .toList();
    }

    /** The index of the entry that a table's port prefers; -1 if it may use none. */
    private int preferred(GidTable table) {
        try {
            return table.candidates(options.gid()).getFirst().index();
        } catch (VerbsException e) {
            return -1;
        }
    }

    /**
     * The entries by which a connection of a port may be addressed now, the best first.
     *
     * @throws VerbsException if there is none, or the options name one that the port does not have
     */
    List<GidEntry> candidates(PortInfo port) {
        if (GidTable.isIndex(options.gid())) {
            int index = Integer.parseInt(options.gid());
            GidTable alone = gidTable(port, index, Math.min(index + 1, port.gidEntries()));
            if (alone.has(options.gid())) {
                return alone.candidates(options.gid());
            }
        }
        GidTable table = gidTable(port);
        if (options.gid().isEmpty() || table.has(options.gid())) {
            return table.candidates(options.gid());
        }
        for (PortInfo other : ports()) {
            if (other.number() != port.number()
                    && !GidTable.isIndex(options.gid())
                    && gidTable(other, 0, other.gidEntries()).has(options.gid())) {
                throw VerbsException.ofAddress(options.gid() + " names a GID of " + name(other) + ", and " + name(port)
                        + " is in use; choose a GID of that port, or the device " + device.name() + ":"
                        + other.number());
            }
        }
        return table.candidates(options.gid());
    }

    /**
     * The index that an entry of an earlier table has now. Only if it has moved is the table read.
     *
     * @throws VerbsException if it is no longer there
     */
    int gidIndex(PortInfo port, GidEntry entry) {
        return !port.ethernet() || GidTable.isThere(directory(port), entry, source(port))
                ? entry.index()
                : gidTable(port).index(entry);
    }

    /** The port's GID table now, as far as connections need it. */
    private GidTable gidTable(PortInfo port) {
        boolean first = !port.ethernet() && options.gid().isEmpty();
        return gidTable(port, 0, first ? Math.min(1, port.gidEntries()) : port.gidEntries());
    }

    private GidTable gidTable(PortInfo port, int from, int to) {
        List<GidEntry> entries =
                GidTable.read(directory(port), port.ethernet(), from, to, source(port), InterfaceAddresses::read);
        return new GidTable(name(port), port.ethernet(), entries);
    }

    private GidTable.Source source(PortInfo port) {
        return new GidTable.Source() {
            @Override
            public byte @Nullable [] gid(int index) {
                return Context.this.gid(port.number(), index);
            }

            @Override
            public int type(int index) {
                return gidType(port.number(), index);
            }
        };
    }

    /** The port's directory in sysfs. */
    private Path directory(PortInfo port) {
        return SYSFS.resolve(device.name() + "/ports/" + port.number());
    }

    /** The index of the partition key that the options name, 0 if they name none. */
    int partitionIndex(PortInfo port) {
        return options.partitionKey() == PortOptions.UNSET
                ? 0
                : PartitionTable.index(directory(port), name(port), options.partitionKey());
    }

    static VerbsException noActivePort(String name) {
        return new VerbsException("device " + name + " has no active port; bring its link up");
    }

    /** The ports as they are now, in the order of their numbers. */
    public List<PortInfo> ports() {
        children.checkOpen();
        List<PortInfo> ports = new ArrayList<>();
        for (int number = 1; number <= portCount; number++) {
            ports.add(queryPort(number));
        }
        return ports;
    }

    /** @return the 16 bytes of a GID, or null if the entry is empty */
    public byte @Nullable [] gid(int port, int index) {
        children.checkOpen();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment gid = arena.allocate(Endpoint.GID_BYTES, 8);
            if (ibverbs.farheap_query_gid(handle, port, index, NativePointers.pointer(gid)) != 0) {
                return null;
            }
            byte[] bytes = gid.toArray(ValueLayout.JAVA_BYTE);
            for (byte b : bytes) {
                if (b != 0) {
                    return bytes;
                }
            }
            return null;
        }
    }

    /** {@code enum ibv_gid_type} of a GID: 0 InfiniBand, 1 RoCEv1, 2 RoCEv2; -1 if the library cannot report it. */
    int gidType(int port, int index) {
        return ibverbs.farheap_query_gid_type(handle, port, index);
    }

    public ProtectionDomain allocateProtectionDomain() {
        children.add();
        ibv_pd pd = ibverbs.farheap_alloc_pd(handle);
        if (pd == null) {
            children.remove();
            throw new VerbsException("cannot allocate a protection domain on " + device.name(), NativePointers.errno());
        }
        return new ProtectionDomain(this, pd);
    }

    /** A channel on which completion queues raise events, for threads that sleep instead of polling. */
    public CompletionChannel createCompletionChannel() {
        children.add();
        ibv_comp_channel channel = ibverbs.farheap_create_comp_channel(handle);
        if (channel == null) {
            children.remove();
            throw new VerbsException("cannot create a completion channel on " + device.name(), NativePointers.errno());
        }
        return new CompletionChannel(this, channel);
    }

    /**
     * @param entries how many completions it must be able to hold; the work requests posted and not polled must never
     *     exceed it
     * @param batch the most completions that one {@link CompletionQueue#poll} returns
     * @param channel the channel on which it raises events, or null
     */
    public CompletionQueue createCompletionQueue(int entries, int batch, @Nullable CompletionChannel channel) {
        if (entries < 1 || entries > limits.maxCompletionEntries()) {
            throw new IllegalArgumentException("a completion queue of " + entries + " entries; " + device.name()
                    + " has 1 to " + limits.maxCompletionEntries());
        }
        if (batch < 1) {
            throw new IllegalArgumentException("a batch of " + batch + " completions; it must be at least 1");
        }
        Arena arena = Arena.ofShared();
        try (CloseStack stack = new CloseStack()) {
            stack.add(arena);
            MemorySegment completions = CompletionQueue.completions(arena, batch);
            if (channel != null) {
                channel.children().add();
                stack.add(channel.children()::remove);
            }
            children.add();
            stack.add(children::remove);
            ibv_cq cq = ibverbs.farheap_create_cq(handle, entries, channel == null ? null : channel.handle());
            if (cq == null) {
                throw new VerbsException(
                        "cannot create a completion queue of " + entries + " entries on " + device.name(),
                        NativePointers.errno());
            }
            stack.keep();
            return new CompletionQueue(this, cq, batch, channel, arena, completions);
        }
    }

    @Override
    public void close() {
        if (children.close()) {
            int error = ibverbs.farheap_close_device(handle);
            if (error != 0) {
                throw new VerbsException("cannot close device " + device.name(), error);
            }
        }
    }

    ChildCount children() {
        return children;
    }

    DataPathCalls calls() {
        return calls;
    }

    /** Whether short posts are critical calls. */
    public boolean postsAreBounded() {
        return calls.criticalBytes() >= 0;
    }

    /**
     * Whether a post is a bounded sequence of stores; providers that post by a system call (rxe, siw) are not bounded.
     */
    private boolean boundedPost() {
        return library == VerbsLibrary.SOFT || BOUNDED_VENDORS.contains(vendorId);
    }

    private DeviceLimits queryLimits() {
        try (Arena arena = Arena.ofConfined()) {
            ibv_device_attr attr =
                    new ibv_device_attr(NativePointers.allocate(arena, Loader.sizeof(ibv_device_attr.class)));
            int error = ibverbs.farheap_query_device(handle, attr);
            if (error != 0) {
                throw new VerbsException("cannot query device " + device.name(), error);
            }
            vendorId = attr.vendor_id();
            portCount = Byte.toUnsignedInt(attr.phys_port_cnt());
            return new DeviceLimits(
                    attr.max_qp(),
                    attr.max_cq(),
                    attr.max_qp_wr(),
                    attr.max_cqe(),
                    maxMemoryRegionBytes(attr),
                    attr.max_qp_rd_atom(),
                    attr.max_qp_init_rd_atom(),
                    attr.max_sge(),
                    attr.atomic_cap() != ibverbs.IBV_ATOMIC_NONE);
        }
    }

    /** The largest registration; the attribute is unsigned. */
    private static long maxMemoryRegionBytes(ibv_device_attr attr) {
        return attr.max_mr_size() < 0 ? Long.MAX_VALUE : attr.max_mr_size();
    }

    private PortInfo queryPort(int number) {
        try (Arena arena = Arena.ofConfined()) {
            ibv_port_attr attr = new ibv_port_attr(NativePointers.allocate(arena, Loader.sizeof(ibv_port_attr.class)));
            int error = ibverbs.farheap_query_port(handle, number, attr);
            if (error != 0) {
                throw new VerbsException("cannot query port " + number + " of " + device.name(), error);
            }
            boolean ethernet = attr.link_layer() == LINK_LAYER_ETHERNET;
            return new PortInfo(
                    number,
                    attr.state() == ibverbs.IBV_PORT_ACTIVE,
                    attr.active_mtu(),
                    Integer.toUnsignedLong(attr.max_msg_sz()),
                    Short.toUnsignedInt(attr.lid()),
                    ethernet,
                    ethernet || (attr.flags() & GRH_REQUIRED) != 0,
                    attr.gid_tbl_len());
        }
    }
}
