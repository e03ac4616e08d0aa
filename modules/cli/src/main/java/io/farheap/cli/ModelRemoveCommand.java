package io.farheap.cli;

import io.farheap.command.ManagerOption;
import io.farheap.manager.grpc.ManagerClient;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code farheap model remove}: removes models from a cache manager. */
@Command(
        name = "remove",
        mixinStandardHelpOptions = true,
        description = "Have a cache manager forget models. What is not there is forgotten already.")
final class ModelRemoveCommand implements Callable<Integer> {

    @Parameters(paramLabel = "KEY", arity = "1..*", description = "of a model, as 'model list' begins its line")
    private List<String> keys;

    @Mixin
    private ManagerOption managers;

    @Override
    public Integer call() {
        try (ManagerClient manager = managers.connect()) {
            keys.forEach(manager::removeModel);
        }
        return 0;
    }
}
