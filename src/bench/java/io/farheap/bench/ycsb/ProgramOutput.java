package io.farheap.bench.ycsb;

import io.farheap.bench.child.TetheredProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Runs a benchmark of another project to its end. */
final class ProgramOutput {

    private ProgramOutput() {}

    /**
     * Returns all that the program printed. It ends with this process, in whatever way that ends.
     *
     * @param log the file for its output
     * @throws IOException if it ends with another status than 0
     */
    static String of(List<String> command, Path log) throws IOException, InterruptedException {
        Process program = new ProcessBuilder(TetheredProcess.command(command))
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        int status;
        try {
            status = program.waitFor();
        } finally {
            TetheredProcess.end(program);
        }
        String printed = Files.readString(log);
        if (status != 0) {
            throw new IOException(command.getFirst() + " ended with status " + status + ": " + printed.strip());
        }
        return printed;
    }
}
