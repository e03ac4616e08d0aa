package io.farheap.bench.peers;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** A program in C that is compiled where it is used, against a library of another project that is installed there. */
final class CompiledProgram {

    private CompiledProgram() {}

    /**
     * Compiles a source that is beside this class.
     *
     * @param name of the source, without its ending
     * @param directory for the program
     * @param libraries that it is linked with
     * @param debianPackages that have the compiler, the headers and the libraries
     * @throws PeerAbsentException if it cannot be compiled
     */
    static Path compile(String name, Path directory, List<String> libraries, String debianPackages)
            throws PeerAbsentException, IOException, InterruptedException {
        Path source = directory.resolve(name + ".c");
        try (InputStream own = CompiledProgram.class.getResourceAsStream(name + ".c")) {
            Files.copy(Objects.requireNonNull(own, "the jar has no " + name + ".c"), source);
        }
        Path program = directory.resolve(name);
        List<String> command = new ArrayList<>(List.of("cc", "-std=gnu11", "-O3", "-march=native"));
        command.addAll(List.of(source.toString(), "-o", program.toString()));
        libraries.forEach(library -> command.add("-l" + library));
        Path log = directory.resolve(name + ".log");
        Process compiler;
        try {
            compiler = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
        } catch (IOException e) {
            throw new PeerAbsentException(
                    "there is no C compiler (Debian: apt-get install " + debianPackages + "): " + e.getMessage(), e);
        }
        int status;
        try {
            status = compiler.waitFor();
        } finally {
            compiler.destroyForcibly();
        }
        if (status != 0) {
            throw new PeerAbsentException(name + ".c cannot be compiled (Debian: apt-get install " + debianPackages
                    + "): "
                    + Files.readAllLines(log).stream()
                            .filter(line -> line.contains("error"))
                            .findFirst()
                            .orElse("see " + log));
        }
        return program;
    }
}
