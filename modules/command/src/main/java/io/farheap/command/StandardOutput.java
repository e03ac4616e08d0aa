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
 * A command's standard output, in UTF-8 whatever the locale is, which remembers that something could not be written:
 * what prints says nothing of it. Any thread.
 */
public final class StandardOutput {

    private final PrintStream stream;
    private volatile @Nullable IOException failure;

    /** @param file where it goes */
    public StandardOutput(OutputStream file) {
        stream = printer(new Remembering(file));
    }

    /** Makes {@link System#out} such a one, and {@link System#err} UTF-8; before anything is printed. */
    public static StandardOutput install() {
        StandardOutput output = new StandardOutput(new FileOutputStream(FileDescriptor.out));
        System.setOut(output.stream);
        System.setErr(printer(new FileOutputStream(FileDescriptor.err)));
        return output;
    }

    /** Prints there; its {@link PrintWriter#checkError} says whether something could not be written. */
    public PrintWriter writer() {
        return new PrintWriter(stream, true, StandardCharsets.UTF_8);
    }

    /** Writes what waits, and says why something could not be written; null if all is. */
    public @Nullable IOException failure() {
        stream.flush();
        return failure;
    }

    private static PrintStream printer(OutputStream file) {
        return new PrintStream(new BufferedOutputStream(file), true, StandardCharsets.UTF_8);
    }

    /**
     * A file, after whose first failure nothing more is tried: what came later would be read as if nothing was missing.
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
