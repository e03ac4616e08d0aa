package io.farheap.verbs;

import io.farheap.verbs.binding.ibv_comp_channel;
import io.farheap.verbs.binding.ibverbs;

/**
 * The channel on which completion queues raise events. Any thread may call; one owner closes it, after its completion
 * queues.
 */
public final class CompletionChannel implements AutoCloseable {

    private final Context context;
    private final ibv_comp_channel handle;
    private final ChildCount children;

    CompletionChannel(Context context, ibv_comp_channel handle) {
        this.context = context;
        this.handle = handle;
        this.children = new ChildCount("the completion channel");
    }

    /** A descriptor that is readable while an event is pending. It belongs to the channel. */
    public int fd() {
        children.checkOpen();
        return handle.fd();
    }

    /**
     * Takes and acknowledges one pending event, without waiting.
     *
     * @return whether there was one
     */
    public boolean takeEvent() {
        children.checkOpen();
        int taken = ibverbs.farheap_take_cq_event(handle);
        if (taken < 0) {
            throw new VerbsException("cannot take a completion event", -taken);
        }
        return taken > 0;
    }

    @Override
    public void close() {
        if (children.close()) {
            int error = ibverbs.farheap_destroy_comp_channel(handle);
            context.children().remove();
            if (error != 0) {
                throw new VerbsException("cannot destroy a completion channel", error);
            }
        }
    }

    ibv_comp_channel handle() {
        return handle;
    }

    ChildCount children() {
        return children;
    }
}
