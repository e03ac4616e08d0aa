package io.farheap.procedure.translate.running;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * The superclass of written classes. They are hidden classes in this package, next to the {@link CallFrame} that they
 * work on. Stateless; any thread.
 */
public abstract class TranslatedCode {

    private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();

    final CodeShape shape;

    TranslatedCode(CodeShape shape) {
        this.shape = shape;
    }

    /**
     * Loads a written class; the JVM unloads it when nothing refers to the code.
     *
     * @param written a class of this package that extends this one
     */
    public static TranslatedCode load(byte[] written, CodeShape shape) {
        try {
            MethodHandles.Lookup hidden = LOOKUP.defineHiddenClass(written, true);
            MethodHandle constructor =
                    hidden.findConstructor(hidden.lookupClass(), MethodType.methodType(void.class, CodeShape.class));
            return (TranslatedCode) constructor.invoke(shape);
        } catch (Error | RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("a translated procedure cannot be loaded", e);
        }
    }

    /**
     * Runs from the start or from the head of an outermost loop.
     *
     * @param resume a point with {@link CodeShape#fast}
     * @return an outcome of {@link CallFrame}
     */
    abstract int fast(CallFrame frame, int resume);

    /** Runs from any point, until the call can continue with {@link #fast}, or leaves. */
    abstract int step(CallFrame frame, int resume);
}
