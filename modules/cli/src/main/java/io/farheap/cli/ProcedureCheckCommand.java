package io.farheap.cli;

import io.farheap.procedure.translate.Translator;
import io.farheap.procedure.translate.running.Translation;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code farheap procedure check}: prints whether a server would accept a class file, and why not. */
@Command(
        name = "check",
        mixinStandardHelpOptions = true,
        description = {
            "Check whether memory servers accept a stored procedure: print its cost, or the refused line and why.",
            "Fuel: about one unit for an instruction, 4 for an access to the cache (docs/guide/procedures.md)."
        })
final class ProcedureCheckCommand implements Callable<Integer> {

    /** The first bytes of each class file. */
    private static final byte[] CLASS_FILE = {(byte) 0xCA, (byte) 0xFE, (byte) 0xBA, (byte) 0xBE};

    @Parameters(paramLabel = "FILE", description = "a class file, as javac writes it")
    private Path file;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new IllegalArgumentException(file + ": there is no such file; compile the procedure first");
        }
        Translator.Limits limits = Translator.Limits.DEFAULT;
        byte[] code = Files.readAllBytes(file);
        requireClassFile(code);
        Translation procedure = Translator.translate(code, limits);
        PrintWriter out = spec.commandLine().getOut();
        out.printf("%s: admitted, %s%n", procedure.name(), procedure.writes() ? "writes" : "reads");
        out.printf("resume points  %,d%n", procedure.resumePoints());
        out.printf("translated     %,d bytes of %,d%n", procedure.translatedBytes(), limits.translatedBytes());
        for (Translation.Loop loop : procedure.loops()) {
            String where = loop.line() == 0 ? "line unknown" : "line " + loop.line();
            String depth =
                    loop.depth() == 1 ? "" : ", in " + (loop.depth() - 1) + " other" + (loop.depth() > 2 ? "s" : "");
            out.printf("loop           %s%s: at most %,d units of fuel a turn%n", where, depth, loop.fuelPerTurn());
        }
        out.flush();
        return 0;
    }

    private void requireClassFile(byte[] code) {
        if (!Arrays.equals(Arrays.copyOf(code, CLASS_FILE.length), CLASS_FILE)) {
            throw new IllegalArgumentException(file + " is not a class file"
                    + (file.toString().endsWith(".java") ? ", but Java source" : "")
                    + "; compile the procedure, with Farheap's jar on javac's class path, and check the .class file");
        }
    }
}
