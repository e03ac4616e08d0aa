package io.farheap.runner.madeup;

/** A run that does not end by itself; its directory and its name are the arguments. */
public final class LongRun {

    private LongRun() {}

    public static void main(String[] arguments) throws Exception {
        io.farheap.runner.RunnerTest.runForEver(arguments[0], arguments[1]);
    }
}
