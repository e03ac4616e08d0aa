package io.farheap.bench.figures;

/** Thrown if a figure's benchmark failed; the message is the rest of a sentence that begins with the figure. */
final class FigureRunException extends Exception {

    private static final long serialVersionUID = 1L;

    FigureRunException(String message) {
        super(message);
    }
}
