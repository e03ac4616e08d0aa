package io.farheap.procedure.service;

import io.farheap.procedure.translate.Translator;
import io.farheap.procedure.translate.instruction.RefusedProcedureException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Loads and compiles the translator's code, by translating the procedures that come with Farheap; otherwise the first
 * registration of a process takes some hundred milliseconds. It runs once in a process, half a second after the first
 * server of procedures has begun, so that a process that ends soon does not pay for it; and it yields to the
 * registrations of clients.
 */
final class WarmUp {

    private static final AtomicBoolean DONE = new AtomicBoolean();
    private static final long AFTER_MILLIS = 500;

    private WarmUp() {}

    /**
     * Schedules it.
     *
     * @param translating one thread, in whose queue registrations wait
     */
    static void later(ThreadPoolExecutor translating) {
        if (DONE.compareAndSet(false, true)) {
            CompletableFuture.delayedExecutor(AFTER_MILLIS, TimeUnit.MILLISECONDS, translating)
                    .execute(() -> run(translating));
        }
    }

    /** @return how many it has translated */
    static int run(ThreadPoolExecutor translating) {
        int translated = 0;
        for (byte[] file : BuiltInClasses.files()) {
            if (!translating.getQueue().isEmpty()) {
                // The registration that waits there warms up the code that is still cold.
                break;
            }
            try {
                Translator.translate(file, Translator.Limits.DEFAULT);
                translated++;
            } catch (RefusedProcedureException e) {
                throw new IllegalStateException("a procedure that comes with Farheap is refused", e);
            }
        }
        return translated;
    }
}
