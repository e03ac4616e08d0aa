package io.farheap.manager.service.commands;

import com.google.gson.JsonObject;
import io.farheap.command.ManagerOption;
import io.farheap.manager.grpc.ManagerClient;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Prints what a manager estimates of each type of machines, as tables or as JSON.
 *
 * @param <T> the estimate of a type
 */
abstract class EstimatesCommand<T> implements Callable<Integer> {

    @Mixin
    private ManagerOption managers;

    @Option(names = "--json", description = "Print JSON, as one line.")
    private boolean json;

    @Spec
    private CommandSpec spec;

    abstract List<T> ask(ManagerClient manager);

    abstract String table(List<T> estimates);

    abstract JsonObject json(T estimate);

    @Override
    public Integer call() {
        List<T> estimates;
        try (ManagerClient manager = managers.connect()) {
            estimates = ask(manager);
        }
        spec.commandLine().getOut().print(json ? json(estimates) + "\n" : table(estimates));
        spec.commandLine().getOut().flush();
        return 0;
    }

    private JsonObject json(List<T> estimates) {
        JsonObject all = new JsonObject();
        all.add("types", Overview.array(estimates.stream().map(this::json)));
        return all;
    }
}
