package io.farheap.cache;

import io.farheap.cache.calls.RegisteredProcedure;
import io.farheap.procedure.translate.running.Translation;
import java.util.Map;

/** A procedure of a cache, which its sessions {@linkplain CacheSession#call call}. Any thread. */
// The superclass's other methods are for the cache alone.
@SuppressWarnings("exports")
public final class Procedure extends RegisteredProcedure {

    Procedure(Object owner, int id, int flags, Translation translation, byte[] classFile) {
        super(owner, id, flags, translation, classFile);
    }

    /** The name of its class. */
    @Override
    public String name() {
        return super.name();
    }

    /** Whether it was registered as one that only reads. */
    @Override
    public boolean readsOnly() {
        return super.readsOnly();
    }

    /**
     * Which servers run it. For the memory of the others, sessions run it themselves and access that memory with one
     * request after the other.
     *
     * @return for each server's address an empty string, or the reason why it does not run the procedure
     */
    @Override
    public Map<String, String> servers() {
        return super.servers();
    }
}
