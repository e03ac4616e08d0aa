package io.farheap.procedure.translate;

/** What hidden classes extend. Stateless; any thread. */
public abstract class TranslatedCode {

    final CodeShape shape;

    TranslatedCode(CodeShape shape) {
        this.shape = shape;
    }

    /**
     * Runs from the start or the head of an outermost loop.
     *
     * @param resume a point with {@link CodeShape#fast}
     * @return an outcome of {@link Frame}
     */
    abstract int fast(Frame frame, int resume);

    /** Runs from any point, until it can go on with {@link #fast}, or with turns. */
    abstract int step(Frame frame, int resume);
}
