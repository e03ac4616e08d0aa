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
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.bytedeco.javacpp.Loader;
import org.jspecify.annotations.Nullable;

/** An open device. Any thread may create objects from it; it is closed after all of them. */
public final class Context implements AutoCloseable {

    /** A value of an anonymous enumeration in verbs.h, which JavaCPP does not map. */
    private static final int LINK_LAYER_ETHERNET = 2;
    /** A macro in verbs.h, set if the port is a virtual one, or of a fabric with more LIDs than fit. */
    private static final int GRH_REQUIRED = 1;
    /**
     * NVIDIA (Mellanox), Broadcom, Intel, Amazon, Huawei. Names would not do: udev renames devices, and any user may
     * name an rxe device.
     */
    private static final Set<Integer> BOUNDED_VENDORS = Set.of(0x02C9, 0x14E4, 0x8086, 0x1D0F, 0x19E5);

    private final DeviceInfo device;
    private final VerbsLibrary library;
    private final ibv_context handle;
    private final ChildCount children;
    private final DeviceLimits limits;
    private final @Nullable PortInfo activePort;
    private final DataPathCalls calls;
    private int portCount;
    private int vendorId;

    Context(DeviceInfo device, VerbsLibrary library, ibv_context handle) {
        this.device = device;
        this.library = library;
        this.handle = handle;
        this.children = new ChildCount("device " + device.name());
        try {
            this.limits = queryLimits();
            this.activePort =
                    ports().stream().filter(PortInfo::active).findFirst().orElse(null);
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

    /** The first active port as it was when the device was opened, or null. */
    public @Nullable PortInfo activePort() {
        return activePort;
    }

    /**
     * The first active port as it was when the device was opened.
     *
     * @throws VerbsException if there was none
     */
    public PortInfo requireActivePort() {
        if (activePort == null) {
            throw noActivePort(device.name());
        }
        return activePort;
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
