// CEED's bake-off problems with deal.II's MatrixFree, at the degree DEGREE:
//   [mpirun -n CORES] bake_off_DEGREE MESH COMPONENTS
// reads cases from standard input, one a line,
//   bp1..bp6 stored|merged|trilinear SAMPLES SECONDS
// and answers each with a line of JSON: the seconds of one application as median, minimum and maximum of so many
// samples of at least so many seconds, and uᵀAu and ‖Au‖ for the interpolant u of sin(x + c) + y z, c the component.
#include "operators.h"

#include <deal.II/base/mpi.h>
#include <deal.II/base/quadrature_lib.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <map>
#include <sstream>
#include <thread>

namespace
{
namespace processes = dealii::Utilities::MPI;

/// A line of standard input.
struct Case
{
  std::string  benchmark, geometry;
  unsigned int samples = 0;
  double       seconds = 0;

  /// Throws if it is no bake-off problem of so many components.
  void check(int components) const
  {
    const std::string known = components == 3 ? "bp2 bp4 bp6" : "bp1 bp3 bp5";
    if (benchmark.size() != 3 || known.find(benchmark) == std::string::npos)
      throw std::runtime_error("expected one of " + known + ", not " + benchmark);
  }

  bool is_mass() const { return benchmark == "bp1" || benchmark == "bp2"; }
  bool is_collocated() const { return benchmark == "bp5" || benchmark == "bp6"; }
};

/// Points, deal.II's data of them, and the operators made so far.
template <int points_1d>
class Rule
{
public:
  Rule(const Problem &problem, const dealii::Quadrature<1> &points)
    : points(points)
    , data(problem.cell_data(points))
    , input(problem.interpolant(*data))
  {}

  template <int components>
  const Operator &find(const Case &wanted)
  {
    const std::string name  = (wanted.is_mass() ? "mass " : "poisson ") + wanted.geometry;
    auto             &found = operators[name];
    if (name == "mass stored")
      make<components, StoredMass<points_1d>>(found);
    else if (name == "mass trilinear")
      make<components, TrilinearMass<points_1d>>(found);
    else if (name == "poisson stored")
      make<components, StoredPoisson<points_1d>>(found);
    else if (name == "poisson merged")
      make<components, MergedPoisson<points_1d>>(found);
    else if (name == "poisson trilinear")
      make<components, TrilinearPoisson<points_1d>>(found);
    else
      throw std::runtime_error("no operator " + name);
    return *found;
  }

  const Vector &probe() const { return input; }

private:
  template <int components, class Stage>
  void make(std::unique_ptr<Operator> &place)
  {
    if (!place)
      place = std::make_unique<CellOperator<components, Stage>>(*data, points);
  }

  const dealii::Quadrature<1>                      points;
  const std::unique_ptr<CellData>                  data;
  const Vector                                     input;
  std::map<std::string, std::unique_ptr<Operator>> operators;
};

/// Seconds of `runs` applications, started together by all processes and ended by the last.
double seconds_of(const Operator &op, Vector &y, const Vector &x, unsigned int runs)
{
  MPI_Barrier(MPI_COMM_WORLD);
  const auto start = std::chrono::steady_clock::now();
  for (unsigned int run = 0; run < runs; ++run)
    op.apply(y, x);
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  return processes::max(passed.count(), MPI_COMM_WORLD);
}

/// Measures one case and prints its line.
void measure(const Case &wanted, const Problem &problem, const Operator &op, const Vector &x)
{
  Vector y(x);
  op.apply(y, x);
  const double energy = x * y, norm = y.l2_norm();

  const double        once = seconds_of(op, y, x, 1);
  const unsigned int  runs = std::max(3., std::ceil(wanted.seconds / once));
  std::vector<double> samples(wanted.samples);
  for (double &sample : samples)
    sample = seconds_of(op, y, x, runs) / runs;
  std::sort(samples.begin(), samples.end());
  if (processes::this_mpi_process(MPI_COMM_WORLD) == 0)
    {
      std::printf("{\"benchmark\": \"%s\", \"geometry\": \"%s\", \"degree\": %d, \"lanes\": %zu, "
                  "\"processes\": %u, \"cells\": %zu, \"dofs\": %zu, "
                  "\"samples\": %zu, \"repeats\": %u, \"seconds\": %.6e, \"seconds_min\": %.6e, "
                  "\"seconds_max\": %.6e, \"energy\": %.17g, \"norm\": %.17g}\n",
                  wanted.benchmark.c_str(),
                  wanted.geometry.c_str(),
                  DEGREE,
                  Lanes::size(),
                  processes::n_mpi_processes(MPI_COMM_WORLD),
                  problem.cells(),
                  problem.unknowns(),
                  samples.size(),
                  runs,
                  (samples[samples.size() / 2] + samples[(samples.size() - 1) / 2]) / 2,
                  samples.front(),
                  samples.back(),
                  energy,
                  norm);
      std::fflush(stdout);
    }
}

/// The next line of standard input, on all processes; empty at the end. Waiting processes sleep, so that they do not
/// disturb a measurement of another program.
std::string next_line()
{
  char line[100] = "";
  if (processes::this_mpi_process(MPI_COMM_WORLD) == 0)
    std::cin.getline(line, sizeof line);
  MPI_Request request;
  MPI_Ibcast(line, sizeof line, MPI_CHAR, 0, MPI_COMM_WORLD, &request);
  for (int done = 0; !done;)
    {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  return line;
}

template <int components>
void answer(const std::string &mesh)
{
  const Problem                    problem(mesh, DEGREE, components);
  std::unique_ptr<Rule<DEGREE + 2>> gauss;
  std::unique_ptr<Rule<DEGREE + 1>> collocated;
  const auto                       run = [&](auto &rule, const Case &wanted, const auto &points) {
    using Made = typename std::decay_t<decltype(rule)>::element_type;
    if (!rule)
      rule = std::make_unique<Made>(problem, points);
    measure(wanted, problem, rule->template find<components>(wanted), rule->probe());
  };
  for (std::string line = next_line(); !line.empty(); line = next_line())
    {
      Case wanted;
      std::istringstream(line) >> wanted.benchmark >> wanted.geometry >> wanted.samples >>
        wanted.seconds;
      wanted.check(components);
      if (wanted.is_collocated())
        run(collocated, wanted, dealii::QGaussLobatto<1>(DEGREE + 1));
      else
        run(gauss, wanted, dealii::QGauss<1>(DEGREE + 2));
    }
}
} // namespace

int main(int count, char **arguments)
{
  if (count != 3)
    {
      std::cerr << "usage: " << arguments[0] << " MESH COMPONENTS\n";
      return 2;
    }
  if (Lanes::size() != lanes_of_processor())
    {
      std::cerr << "compiled for vectors of " << Lanes::size() << " numbers; the processor's have "
                << lanes_of_processor() << ": compile it here\n";
      return 1;
    }
  const processes::MPI_InitFinalize mpi(count, arguments, 1);
  try
    {
      if (std::string(arguments[2]) == "3")
        answer<3>(arguments[1]);
      else
        answer<1>(arguments[1]);
    }
  catch (const std::exception &error)
    {
      std::cerr << error.what() << '\n';
      return 1;
    }
}
