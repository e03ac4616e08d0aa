package io.farheap.cache.managed;

import io.farheap.cache.contract.CacheException;
import io.farheap.cache.objective.Tuning;
import io.farheap.control.ControlException;
import io.farheap.manager.CacheManager;
import io.farheap.manager.StoredModel;
import io.farheap.manager.grpc.ManagerClient;
import io.farheap.posix.Hardware;
import io.farheap.slo.ModelSubject;
import io.farheap.slo.PerformanceModel;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import io.farheap.verbs.PortOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The performance models that managers keep, for a cache that has an objective and was given no model. */
public final class ManagedModels {

    private static final System.Logger LOG = System.getLogger(ManagedModels.class.getName());

    private static final String PUT = "'farheap model put FILE --manager HOST:PORT'";

    private ManagedModels() {}

    /** The load that a model was measured with. */
    public record ModelWorkload(int recordBytes, int readPercent) {

        static ModelWorkload of(ModelSubject subject) {
            return new ModelWorkload(subject.recordBytes(), subject.readPercent());
        }

        @Override
        public String toString() {
            return "records of " + recordBytes + " bytes, " + readPercent + "% reads";
        }
    }

    /**
     * Asks the managers for the models that fit.
     *
     * @param device of the machine
     * @param workload the load of the models; null if they all have the same
     * @return at least one
     * @throws CacheException if no manager answers, or no model fits
     */
    public static List<PerformanceModel> ask(
            List<String> managers, PortOptions device, @Nullable ModelWorkload workload) {
        String opened;
        try (Context context = Devices.open(device)) {
            opened = Tuning.device(context);
        }
        List<PerformanceModel> kept;
        try (ManagerClient manager = ManagerClient.connectFirst(managers)) {
            kept = readable(all(manager));
        } catch (ControlException | IllegalArgumentException e) {
            throw new CacheException("no performance models for a cache with an objective: " + e.getMessage(), e);
        }
        return choose(kept, opened, Hardware.describe(), workload);
    }

    private static List<StoredModel> all(CacheManager manager) {
        List<StoredModel> all = new ArrayList<>();
        List<StoredModel> page = manager.models("");
        while (!page.isEmpty()) {
            all.addAll(page);
            page = manager.models(page.getLast().key());
        }
        return all;
    }

    /**
     * Reads the models that have this release's format. A model that another release has stored is skipped.
     *
     * @throws IllegalArgumentException if there are models, and none can be read
     */
    static List<PerformanceModel> readable(List<StoredModel> stored) {
        List<PerformanceModel> models = new ArrayList<>();
        IllegalArgumentException last = null;
        for (StoredModel model : stored) {
            try {
                models.add(model.model());
            } catch (IllegalArgumentException e) {
                LOG.log(System.Logger.Level.WARNING, "performance model " + model.key() + " is skipped", e);
                last = e;
            }
        }
        if (models.isEmpty() && last != null) {
            throw new IllegalArgumentException(
                    "none of the manager's " + stored.size() + " models can be read: " + last.getMessage(), last);
        }
        return models;
    }

    /**
     * Chooses the models of a device and a load, and of this hardware if there are any. Models of coded caches are
     * excluded, since these have no manager.
     */
    static List<PerformanceModel> choose(
            List<PerformanceModel> kept, String device, String hardware, @Nullable ModelWorkload workload) {
        List<PerformanceModel> ofDevice = those(kept, subject -> Tuning.isOf(subject, device) && !subject.coded());
        if (ofDevice.isEmpty()) {
            throw new CacheException("the manager keeps no performance model of device " + device
                    + (kept.isEmpty() ? "" : ", but of " + devices(kept))
                    + "; measure one with 'farheap model' and put it there with " + PUT
                    + ", or give the cache one with CacheBuilder.model");
        }
        List<PerformanceModel> ofHardware =
                those(ofDevice, subject -> subject.hardware().equals(hardware));
        List<PerformanceModel> here = ofHardware.isEmpty() ? ofDevice : ofHardware;
        List<PerformanceModel> ofLoad = workload == null
                ? here
                : those(here, subject -> ModelWorkload.of(subject).equals(workload));
        if (ofLoad.isEmpty()) {
            throw new CacheException("the manager keeps no performance model of device " + device + " for " + workload
                    + ", but for " + workloads(here) + "; measure one with 'farheap model' and put it there with "
                    + PUT + ", or name another load with CacheBuilder.workload");
        }
        if (ofLoad.stream()
                        .map(model -> ModelWorkload.of(model.subject()))
                        .distinct()
                        .count()
                > 1) {
            throw new CacheException("the manager keeps performance models of device " + device + " for "
                    + workloads(ofLoad) + "; name the cache's load with CacheBuilder.workload");
        }
        return ofLoad;
    }

    private static List<PerformanceModel> those(List<PerformanceModel> models, Predicate<ModelSubject> which) {
        return models.stream().filter(model -> which.test(model.subject())).toList();
    }

    private static String devices(List<PerformanceModel> models) {
        return models.stream().map(model -> model.subject().device()).distinct().collect(Collectors.joining("; of "));
    }

    private static String workloads(List<PerformanceModel> models) {
        return models.stream()
                .map(model -> ModelWorkload.of(model.subject()).toString())
                .distinct()
                .sorted()
                .collect(Collectors.joining("; for "));
    }
}
