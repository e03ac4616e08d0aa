package io.farheap.cache;

import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closing;
import io.farheap.memory.RegisteredMemory;
import io.farheap.remote.CompletionEvents;
import io.farheap.remote.ContextLifetime;
import io.farheap.verbs.Access;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import io.farheap.verbs.ProtectionDomain;

/** The RDMA device of a cache, and what all that the cache makes on it has in common. Any thread. */
final class CacheDevice implements AutoCloseable {

    /** Larger requests are cut: some devices take no more in one message, and softverbs copies within the post. */
    private static final long MAX_MESSAGE_BYTES = 1 << 20;

    private final Context context;
    private final ContextLifetime lifetime;
    private final ProtectionDomain domain;
    private final RegisteredMemory scratch;
    private final CompletionEvents events;

    /**
     * @param device of the machine; empty for the first with an active port
     * @param name for names of threads
     */
    CacheDevice(String device, String name) {
        try (CloseStack stack = new CloseStack()) {
            context = Devices.open(device);
            lifetime = stack.add(new ContextLifetime(context));
            domain = stack.add(context.allocateProtectionDomain());
            scratch = stack.add(RegisteredMemory.allocate(domain, "farheap-scratch", Long.BYTES, Access.LOCAL_WRITE));
            events = new CompletionEvents(name);
            stack.keep();
        }
    }

    Context context() {
        return context;
    }

    /** The context is closed when all that was told here is. */
    ContextLifetime lifetime() {
        return lifetime;
    }

    ProtectionDomain domain() {
        return domain;
    }

    /** Where drains put what they read. */
    RegisteredMemory scratch() {
        return scratch;
    }

    /** Wakes whoever sleeps for completions. */
    CompletionEvents events() {
        return events;
    }

    /** The most that one work request may carry. */
    int maxMessageBytes() {
        return (int) Math.min(MAX_MESSAGE_BYTES, context.requireActivePort().maxMessageBytes());
    }

    /** Once everything else that was made of it is closed, or will be later. */
    @Override
    public void close() {
        Closing.all(events, scratch, domain, lifetime);
    }
}
