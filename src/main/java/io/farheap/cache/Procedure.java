package io.farheap.cache;

import io.farheap.cache.calls.RegisteredProcedure;
import io.farheap.procedure.translate.running.Translation;
import java.util.Map;

/** A procedure of a cache, which its sessions {@linkplain CacheSession#call call}. Any thread. */
// What its superclass has beside this is for the cache alone.
@SuppressWarnings("exports")
public final class Procedure extends RegisteredProcedure {

    Procedure(Object owner, int id, int flags, Translation translation, byte[] classFile) {
        super(owner, id, flags, translation, classFile);
    }

    /** Of the class. */
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
     * Which servers run it; on the others' memory sessions make its accesses themselves, one by one.
     *
     * @return by address: empty, or why it does not
     */
    @Override
    public Map<String, String> servers() {
        return super.servers();
    }
}
