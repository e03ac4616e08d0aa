package io.farheap.remote;

import io.farheap.connection.Connection;
import io.farheap.control.ControlException;
import io.farheap.control.SignedGrant;
import io.farheap.control.SpaceInfo;
import io.farheap.control.SpaceKey;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.SpacePlane;
import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.memory.SharedMemory;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.device.OpenDevice;
import io.farheap.remote.server.LeasedServer;
import io.farheap.verbs.Access;
import io.farheap.verbs.CompletionChannel;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.Context;
import io.farheap.verbs.PortOptions;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A process's way to memory on other machines: servers that it is attached to, local memory that is registered, and
 * {@linkplain RemoteQueue queues} of operations between the two. Any thread may call. It closes all that was opened
 * through it.
 *
 * <pre>{@code
 * try (RemoteMemory memory = RemoteMemory.open("", "counter")) {
 *     RemoteServer server = memory.attach("10.0.0.5:7400");
 *     RemoteRegion region = memory.allocate(server, 1).getFirst();
 *     RegisteredBuffer buffer = memory.register(4096);
 *     RemoteQueue queue = memory.openQueue(QueueOptions.DEFAULT);
 *     queue.fetchAndAdd(region, 0, 1, buffer, 0, 7);
 *     while (queue.poll((tag, outcome) -> System.out.println(tag + " is " + Outcome.describe(outcome))) == 0) {
 *         queue.await(1_000_000);
 *     }
 * }
 * }</pre>
 */
public final class RemoteMemory implements AutoCloseable {

    private final String name;
    private final Consumer<RemoteServer> onLost;
    private final OpenDevice device;
    /**
     * Runs the control calls of queues, and the work that follows the loss of a server, each on a virtual thread of its
     * own, so that none waits for another.
     */
    private final ExecutorService calls = Executors.newVirtualThreadPerTaskExecutor();

    private final List<RemoteServer> servers = new CopyOnWriteArrayList<>();
    private final OpenQueues queues = new OpenQueues();
    private final Set<RegisteredBuffer> buffers = ConcurrentHashMap.newKeySet();
    /** Guards the sets of servers, queues and buffers. */
    private final ReentrantLock topology = new ReentrantLock();

    /**
     * The indexes that servers have had or are about to get; queues and sessions have an entry for each. An attachment
     * that fails gives its index back. That of a detached server is not used again, since answers about that server may
     * still arrive.
     */
    private final BitSet indexes = new BitSet();

    private volatile boolean closed;

    private RemoteMemory(PortOptions port, String name, Consumer<RemoteServer> onLost) {
        this.name = name;
        this.onLost = onLost;
        this.device = new OpenDevice(port, name);
    }

    /** As {@link #open(String, String, Consumer)}, without a listener for lost servers. */
    public static RemoteMemory open(String device, String name) {
        return open(device, name, server -> {});
    }

    /**
     * Opens a device.
     *
     * @param device its name, {@code NAME} or {@code NAME:PORT}; empty for the first that serves
     * @param name the client's name, for servers' logs and thread names
     * @param onLost called once for each server whose lease is lost, after its connections have been failed, on a
     *     thread of its own
     * @throws io.farheap.verbs.VerbsException if there is no such device or it cannot be opened
     */
    public static RemoteMemory open(String device, String name, Consumer<RemoteServer> onLost) {
        return open(PortOptions.of(device), name, onLost);
    }

    /**
     * Opens a device, as {@link #open(String, String, Consumer)}.
     *
     * @param port its device, and how connections leave it
     * @throws io.farheap.verbs.VerbsException if there is no such device, it cannot be opened, or it has no address of
     *     the kind that the options name
     */
    public static RemoteMemory open(PortOptions port, String name, Consumer<RemoteServer> onLost) {
        return new RemoteMemory(port, name, onLost);
    }

    /**
     * Opens a lease on a memory server. Queues that are already open reach it after {@link #connectQueues}, or after a
     * {@link RemoteQueue#reconnect} of their own.
     *
     * @param hostPort HOST:PORT of its control plane
     * @throws ControlException if it cannot be reached or refuses
     */
    public RemoteServer attach(String hostPort) {
        // Its connections belong to the device, which another thread may be closing with this object.
        if (!device.hold()) {
            throw closedAlready();
        }
        try (OpenDevice _ = device) {
            return attachHeld(hostPort);
        }
    }

    private RemoteServer attachHeld(String hostPort) {
        int index;
        topology.lock();
        try {
            checkOpen();
            index = indexes.nextClearBit(0);
            indexes.set(index);
        } finally {
            topology.unlock();
        }
        RemoteServer server = attachAs(index, hostPort);
        topology.lock();
        try {
            if (!closed) {
                servers.add(server);
                return server;
            }
        } finally {
            topology.unlock();
        }
        server.close();
        throw closedAlready();
    }

    private RemoteServer attachAs(int index, String hostPort) {
        try {
            return LeasedServer.attach(
                    hostPort,
                    index,
                    device.domain(),
                    name,
                    ControlPlane.NO_CACHE,
                    SignedGrant.NONE,
                    (lost, cause) -> lost(lost),
                    device.lifetime()::closesLater);
        } catch (Throwable e) {
            topology.lock();
            try {
                indexes.clear(index);
            } finally {
                topology.unlock();
            }
            throw e;
        }
    }

    /**
     * Connects all open queues of one-sided operations to a server, while their owners continue; a queue that has a
     * connection keeps it. When it returns, each of them reaches the server. Any thread may call, except an owner
     * inside its gate.
     *
     * @throws ControlException if the server refuses or does not answer; some of the queues may reach it then, and this
     *     may be called again
     */
    public void connectQueues(RemoteServer server) {
        queues.join(server);
    }

    /**
     * Ends the operations in flight to a lost server and refuses later ones; nothing is read from it or written to it
     * any more.
     */
    private void lost(RemoteServer server) {
        queues.lose(server);
        try {
            if (!closed) {
                onLost.accept(server);
            }
        } finally {
            // Last, as the listener drops what must not be used any more.
            LeasedServer.of(server).abandon();
        }
    }

    /**
     * Takes regions of a server, zeroed, all or none. They are given back by {@link #release}, or when the server or
     * this memory is closed.
     *
     * @throws ControlException if the server has too few, or does not answer
     */
    public List<RemoteRegion> allocate(RemoteServer server, int regions) {
        checkOpen();
        return server.allocate(regions);
    }

    /**
     * Gives a region back.
     *
     * @throws IllegalStateException if an operation that uses it has not ended, or has failed and has not been handed
     *     over, since it may still take effect; the region then stays usable
     * @throws IllegalArgumentException if it belongs to a shared space: close or drop that
     */
    public void release(RemoteRegion region) {
        if (region.isOfSpace()) {
            throw new IllegalArgumentException(
                    region + " is a part of a shared space, and goes with it: close the space, or drop it");
        }
        queues.withdraw(List.of(region));
        region.server().releaseQuietly(region);
    }

    /**
     * Makes a region unusable: no operation on it begins any more. It must still be {@linkplain #release released};
     * before that its owner can ask whether the outcome of an ended operation is unknown, and fence that. Operations
     * that have ended and wait for their owner's poll delay neither call.
     *
     * @throws IllegalStateException as {@link #release}
     */
    public void retire(RemoteRegion region) {
        queues.withdraw(List.of(region));
    }

    /**
     * Creates a shared space on a server, zeroed, and opens it. It outlives this process.
     *
     * @param regions how many regions, of the server's size
     * @param millis how long it lives, 1 to {@link SpacePlane#MAX_MILLIS}; or {@link SpacePlane#FOR_EVER}, until it is
     *     dropped or the server's process ends
     * @param descriptor bytes for the processes that open it, at most {@value SpacePlane#MAX_DESCRIPTOR_BYTES}
     * @throws ControlException INVALID_ARGUMENT if the server has a space of that name; OUT_OF_MEMORY; GRANT_REFUSED if
     *     the server has a cache manager
     */
    public RemoteSpace createSpace(RemoteServer server, SpaceKey key, int regions, long millis, byte[] descriptor) {
        return createSpace(server, key, regions, millis, descriptor, false);
    }

    /**
     * The same.
     *
     * @param readOnly whether all processes, this one too, may READ the space and neither WRITE it nor use atomics
     *     there, which fails their connection: the server's own services alone change it
     */
    public RemoteSpace createSpace(
            RemoteServer server, SpaceKey key, int regions, long millis, byte[] descriptor, boolean readOnly) {
        checkOpen();
        return RemoteSpace.create(
                LeasedServer.of(server), key, regions, millis, descriptor, readOnly, queues::withdraw);
    }

    /**
     * Opens an existing shared space. Open it once at a time: if one process opens a space twice on one attachment of
     * the server, the first close ends both.
     *
     * @throws ControlException NOT_FOUND if the server has no space with that name and that token
     */
    public RemoteSpace openSpace(RemoteServer server, SpaceKey key) {
        checkOpen();
        return RemoteSpace.open(LeasedServer.of(server), key, queues::withdraw);
    }

    /**
     * Ends a shared space for all processes, whether it is open here or not.
     *
     * @throws ControlException NOT_FOUND if the server has no space with that name and that token
     */
    public void dropSpace(RemoteServer server, SpaceKey key) {
        checkOpen();
        RemoteSpace.drop(LeasedServer.of(server), key, SpacePlane.ANY_SPACE);
    }

    /**
     * Ends one particular shared space, even if another space has its name by now.
     *
     * @param id {@link RemoteSpace#id}
     * @throws ControlException NOT_FOUND if it has ended
     */
    public void dropSpace(RemoteServer server, SpaceKey key, long id) {
        checkOpen();
        RemoteSpace.drop(LeasedServer.of(server), key, id);
    }

    /** The server's shared spaces, of all clients. */
    public List<SpaceInfo> spaces(RemoteServer server) {
        checkOpen();
        LeasedServer leased = LeasedServer.of(server);
        return leased.callWithLease(lease -> leased.spaces().list(lease));
    }

    /**
     * Gives all of a server's regions back and ends its lease; operations in flight to it end as
     * {@link Outcome#UNKNOWN}.
     */
    public void detach(RemoteServer server) {
        if (!device.hold()) {
            return;
        }
        try (OpenDevice _ = device) {
            if (servers.remove(server)) {
                queues.lose(server);
                queues.forget(server);
                server.close();
            }
        }
    }

    /**
     * Allocates and registers memory: mapped, populated, page-aligned and zero.
     *
     * @param bytes at least 1, rounded up to whole pages
     * @throws IllegalArgumentException if this machine, or a control group of this process, has not enough room
     */
    public RegisteredBuffer register(long bytes) {
        SharedMemory memory = SharedMemory.allocate("farheap-buffer", bytes);
        try {
            return register(memory.segment(), memory);
        } catch (Throwable e) {
            memory.close();
            throw e;
        }
    }

    /**
     * Registers memory of the caller's: off-heap, and mapped until the buffer is closed.
     *
     * @throws IllegalArgumentException if it is on the heap, read-only or empty
     */
    public RegisteredBuffer register(MemorySegment segment) {
        if (!segment.isNative() || segment.isReadOnly() || segment.byteSize() == 0) {
            throw new IllegalArgumentException(
                    segment + " cannot be registered: take memory that is off-heap, writable and not empty");
        }
        return register(segment, null);
    }

    private RegisteredBuffer register(MemorySegment segment, @Nullable AutoCloseable memory) {
        topology.lock();
        try {
            checkOpen();
            RegisteredBuffer buffer = new RegisteredBuffer(
                    device, this::close, segment, device.domain().register(segment, Access.LOCAL_WRITE), memory);
            buffers.add(buffer);
            return buffer;
        } finally {
            topology.unlock();
        }
    }

    /**
     * Opens a queue and connects it to all servers. If one cannot be reached, operations to it are
     * {@link PostResult#LOST}.
     *
     * @throws IllegalArgumentException if the device does not allow the options
     * @throws ControlException if a server refuses a connection
     */
    public RemoteQueue openQueue(QueueOptions options) {
        checkOptions(options);
        return open(stack -> {
            CompletionChannel channel = stack.add(device.context().createCompletionChannel());
            CompletionQueue completions = stack.add(device.context()
                    .createCompletionQueue(
                            options.operations() + RemoteQueue.RESERVED_ENTRIES,
                            RemoteQueue.COMPLETION_BATCH,
                            channel));
            return new RemoteQueue(device, this::close, channel, completions, options, calls);
        });
    }

    /**
     * Opens a queue of calls and connects it to all servers. If one cannot be reached, calls to it are
     * {@link PostResult#LOST}.
     *
     * @throws IllegalArgumentException if the device does not allow the options, or this machine has no memory for them
     * @throws ControlException if a server refuses the options
     */
    public RpcQueue openRpcQueue(RpcOptions options) {
        return open(stack -> new RpcQueue(
                device, this::close, stack.add(device.context().createCompletionChannel()), options, calls));
    }

    /** @param make makes the queue; adds each device object to the stack, until the queue owns it */
    private <Q extends OwnedQueue> Q open(Function<CloseStack, Q> make) {
        Q queue = add(make);
        try {
            List<RemoteServer> joined = List.of();
            // Servers may be attached meanwhile.
            for (List<RemoteServer> now = List.copyOf(servers); !joined.containsAll(now); now = List.copyOf(servers)) {
                for (RemoteServer server : now) {
                    // Each server may be silent, and a thread that closes this memory should wait for one of them at
                    // most.
                    checkOpen();
                    tolerating(() -> queue.join(server));
                }
                joined = now;
            }
            checkOpen();
            return queue;
        } catch (Throwable e) {
            Closeables.after(e, queue::shut, () -> close(queue));
            throw e;
        }
    }

    /** Adds a queue before it is connected, so that a thread that closes this memory closes the queue too. */
    private <Q extends OwnedQueue> Q add(Function<CloseStack, Q> make) {
        topology.lock();
        try (CloseStack stack = new CloseStack()) {
            checkOpen();
            Q queue = make.apply(stack);
            queues.add(queue);
            stack.keep();
            return queue;
        } finally {
            topology.unlock();
        }
    }

    /** Ignores that a server is gone, so that the other servers are still reached. */
    private static void tolerating(Runnable call) {
        try {
            call.run();
        } catch (ControlException e) {
            switch (e.code()) {
                case UNAVAILABLE, DEADLINE_EXCEEDED, LEASE_EXPIRED -> {}
                default -> throw e;
            }
        }
    }

    private void checkOptions(QueueOptions options) {
        int most = Connection.maxDepth(device.context().limits());
        if (options.depth() > most) {
            throw new IllegalArgumentException("a queue depth of " + options.depth() + "; "
                    + device.context().device().name() + " takes up to " + most);
        }
        int entries = device.context().limits().maxCompletionEntries() - RemoteQueue.RESERVED_ENTRIES;
        if (options.operations() > entries) {
            throw new IllegalArgumentException(options.operations() + " operations in all; "
                    + device.context().device().name() + " takes up to " + entries);
        }
    }

    /** The client's name, as servers' logs and thread names have it. */
    public String name() {
        return name;
    }

    /** The RDMA device in use. */
    public Context context() {
        return device.context();
    }

    /** The most that one operation may read or write, in bytes. */
    public int maxMessageBytes() {
        return device.maxMessageBytes();
    }

    /** The largest {@link QueueOptions#depth} that the device allows. */
    public int maxQueueDepth() {
        return Connection.maxDepth(device.context().limits());
    }

    /** Whether the device does compare-and-swap and fetch-and-add. */
    public boolean atomics() {
        return device.context().limits().atomics();
    }

    /** The servers that are attached. */
    public List<RemoteServer> servers() {
        return List.copyOf(servers);
    }

    /** Ends queues, buffers and leases. Outstanding tags do not return. Idempotent. */
    @Override
    public void close() {
        topology.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
        } finally {
            topology.unlock();
        }
        calls.shutdown();
        try (CloseStack everything = new CloseStack()) {
            everything.add(device);
            everything.add(calls);
            for (RemoteServer server : List.copyOf(servers)) {
                // If another thread detaches it, that thread closes it.
                if (servers.remove(server)) {
                    everything.add(server);
                }
            }
            buffers.forEach(buffer -> everything.add(buffer::free));
            queues.closeWith(everything);
        }
    }

    private void close(OwnedQueue queue) {
        // Removed after it is freed: a thread that closes this memory meanwhile waits for that.
        try {
            queue.free();
        } finally {
            queues.remove(queue);
        }
    }

    /**
     * Closes a buffer without the topology lock: this claims the gates of queues, and an owner inside its gate may wait
     * for that lock to register memory. If two threads close a buffer, one frees it and the other waits for that.
     */
    private void close(RegisteredBuffer buffer) {
        if (!buffers.contains(buffer)) {
            return;
        }
        queues.withdraw(buffer);
        try {
            buffer.free();
        } finally {
            buffers.remove(buffer);
        }
    }

    private void checkOpen() {
        if (closed) {
            throw closedAlready();
        }
    }

    private static IllegalStateException closedAlready() {
        return new IllegalStateException("this remote memory is closed");
    }
}
