package io.farheap.cli;

import io.farheap.command.ManagerOption;
import io.farheap.manager.CacheManager;
import io.farheap.manager.grpc.ManagerClient;
import io.farheap.slo.ModelFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code farheap model put}: gives models to a cache manager, for caches with an objective. */
@Command(
        name = "put",
        mixinStandardHelpOptions = true,
        description = {
            "Give measured models to a cache manager, which keeps one for each device, hardware, distance and load.",
            "A cache with an objective and a manager, but without a model, takes them from there."
        })
final class ModelPutCommand implements Callable<Integer> {

    @Parameters(paramLabel = "FILE", arity = "1..*", description = "of a complete model")
    private List<Path> files;

    @Mixin
    private ManagerOption managers;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        // All files are read first, so that, as far as that can be known before, all of them or none are put.
        List<String> texts = new ArrayList<>();
        List<String> lines = new ArrayList<>();
        for (Path file : files) {
            requireSize(file);
            lines.add(ModelListCommand.line(ModelFile.load(file).subject()));
            texts.add(Files.readString(file));
        }
        try (ManagerClient manager = managers.connect()) {
            for (int i = 0; i < texts.size(); i++) {
                manager.putModel(texts.get(i));
                spec.commandLine().getOut().println("kept  " + lines.get(i));
            }
        }
        spec.commandLine().getOut().flush();
        return 0;
    }

    private static void requireSize(Path file) throws IOException {
        long bytes = Files.size(file);
        if (bytes > CacheManager.MAX_MODEL_BYTES) {
            throw new IllegalArgumentException(file + " has " + bytes + " bytes, and a manager keeps models of at most "
                    + CacheManager.MAX_MODEL_BYTES + "; measure one for fewer cores or depths");
        }
    }
}
