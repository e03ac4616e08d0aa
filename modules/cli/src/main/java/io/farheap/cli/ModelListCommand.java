package io.farheap.cli;

import io.farheap.command.ManagerOption;
import io.farheap.manager.StoredModel;
import io.farheap.manager.grpc.ManagerClient;
import io.farheap.memory.Plurals;
import io.farheap.slo.ModelSubject;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code farheap model list}: the models that a cache manager keeps. */
@Command(
        name = "list",
        mixinStandardHelpOptions = true,
        description = "Print the key and the subject of each model that a cache manager keeps.")
final class ModelListCommand implements Callable<Integer> {

    @Mixin
    private ManagerOption managers;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        try (ManagerClient manager = managers.connect()) {
            List<StoredModel> page = manager.models("");
            if (page.isEmpty()) {
                out.println("no models; give it some with 'farheap model put'");
            }
            while (!page.isEmpty()) {
                page.forEach(model -> out.println(model.key() + "  " + line(model)));
                page = manager.models(page.getLast().key());
            }
        }
        out.flush();
        return 0;
    }

    private static String line(StoredModel model) {
        try {
            return line(model.model().subject());
        } catch (IllegalArgumentException e) {
            return "cannot be used: " + e.getMessage();
        }
    }

    static String line(ModelSubject subject) {
        return subject.device() + "; " + subject.hardware() + "; "
                + Plurals.of(subject.switches(), "switch") + "; records of " + subject.recordBytes()
                + " bytes, " + subject.readPercent() + "% reads; up to " + subject.clientCores()
                + " client cores, depth "
                + subject.deviceDepth() + (subject.coded() ? "; coded, " + subject.resilience() : "");
    }
}
