package io.farheap.command;

import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A command's standard output, in UTF-8 whatever the locale is. It remembers if a write has failed, which a
 * {@link java.io.PrintStream} does not report to the code that prints. Any thread.
 */
public final class StandardOutput {

    private final PrintStream stream;
    private volatile @Nullable IOException failure;

    /** @param file the destination */
    public StandardOutput(OutputStream file) {
        stream = printer(new Remembering(file));
    }

    /**
     * Makes {@link System#out} an output of this kind, and {@link System#err} UTF-8; called before anything is printed.
     */
    public static StandardOutput install() {
        StandardOutput output = new StandardOutput(new FileOutputStream(FileDescriptor.out));
        System.setOut(output.stream);
        System.setErr(printer(new FileOutputStream(FileDescriptor.err)));
        return output;
    }

    /** Returns a writer to it; {@link PrintWriter#checkError} says whether a write has failed. */
    public PrintWriter writer() {
        return new PrintWriter(stream, true, StandardCharsets.UTF_8);
    }

    /** Flushes the output, and returns the first failure; null if everything was written. */
    public @Nullable IOException failure() {
        stream.flush();
        return failure;
    }

    private static PrintStream printer(OutputStream file) {
        return new PrintStream(new BufferedOutputStream(file), true, StandardCharsets.UTF_8);
    }

    /**
     * A file to which no more is written after the first failure: later output would be read as if nothing was missing.
     */
    private final class Remembering extends OutputStream {

        private final OutputStream file;

        private Remembering(OutputStream file) {
            this.file = file;
        }

        @Override
        public void write(int one) throws IOException {
            write(new byte[] {(byte) one}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            IOException before = failure;
            if (before != null) {
                throw new IOException(before);
            }
            try {
                file.write(bytes, offset, length);
            } catch (IOException e) {
                failure = e;
                throw e;
            }
        }
    }
}
