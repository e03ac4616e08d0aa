package io.farheap.manager.provider;

import io.farheap.manager.allocation.Menu;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** Servers that somebody else starts, and that register themselves: this lets no machine. */
public final class RegisteredServers implements ServerProvider {

    public static final String NAME = "registered";

    /** Makes one. */
    public static final class Factory implements ServerProvider.Factory {

        @Override
        public String name() {
            return NAME;
        }

        @Override
        public ServerProvider open(
                Map<String, String> settings, Supplier<Menu> menu, String managers, Listener listener) {
            if (!settings.isEmpty()) {
                throw new IllegalArgumentException("provider " + NAME + " has no settings, and so no "
                        + settings.keySet().iterator().next());
            }
            return new RegisteredServers();
        }
    }

    @Override
    public boolean startsServers() {
        return false;
    }

    @Override
    public List<MachineOffer> menu() {
        return List.of();
    }

    @Override
    public Machine start(MachineOffer lot) {
        throw new IllegalArgumentException("provider " + NAME + " lets no machine of type " + lot.type());
    }

    /** Nothing ever is. */
    @Override
    public void tellWhenAvailable(String type, boolean spot) {}

    @Override
    public void close() {}
}
