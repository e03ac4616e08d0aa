package io.farheap.procedure.service;

import io.farheap.procedure.translate.Translator;
import io.farheap.procedure.translate.instruction.RefusedProcedureException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Loads and compiles what translates procedures, by translating those that come with Farheap: the first registration of
 * a process takes some hundred milliseconds else. Once in a process, a moment after its first server of procedures has
 * begun, so that a process that ends soon has not paid for it; and never before what clients register.
 */
final class WarmUp {

    private static final AtomicBoolean DONE = new AtomicBoolean();
    private static final long AFTER_MILLIS = 500;

    private WarmUp() {}

    /** @param translating one thread, where registrations wait */
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
                // Whoever waits there warms up what is cold.
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
