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
        description = "Remove models from a cache manager. A key that it does not have is no error.")
final class ModelRemoveCommand implements Callable<Integer> {

    @Parameters(paramLabel = "KEY", arity = "1..*", description = "key of a model, first on its line of 'model list'")
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
